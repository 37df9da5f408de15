// TreeWalk.swift — the list of a tree that the server knows by paths: folder by folder, each with
// what lies in it directly. It tells which entity a member of a folder is.
//
//   the server's own id of a file      the entity that has it, wherever it lay
//   else its place                     the entity that the server had there, if it is of its kind
//   else a folder made here            that one, where it was not sent yet
//   else                               a new entity
//
// A path is an address of a time: nothing is remembered under it, so that a later file at the same
// place is another entity.
//
// What lay in a folder and is not named by its list is missing. It may have been moved into one
// that was listed before: all of them are listed once more, and what both passes leave out is gone.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// A list of a tree by its folders.
package struct TreeWalk: Sendable, Hashable {
    /// A folder to list; without an id the root.
    struct Folder: Sendable, Hashable {
        var id: String?
        /// The names from the root down, joined by `/`.
        var path = ""
    }

    /// A name in a folder.
    struct Place: Sendable, Hashable {
        var folder: String?
        var name: ExactString
    }

    /// A name in a folder, for a file or a folder: until it is known that one of them is gone, both
    /// may be known to lie under it.
    struct Slot: Sendable, Hashable {
        var name: ExactString
        var isFolder: Bool
    }

    /// An entity that the server has at a place.
    struct Member: Sendable, Hashable {
        var id: String
        var isFolder: Bool
        /// The server's own id of it, which it keeps where it is moved.
        var mark: ExactString?
    }

    /// What a folder's list adds to the walk.
    package struct Step: Sendable, Hashable {
        fileprivate struct Found: Sendable, Hashable {
            var place: Place
            var member: Member
            var isNew: Bool
        }

        fileprivate var found: [Found] = []
        /// Folders in it, the first one last.
        fileprivate var folders: [Folder] = []
        /// Those in it that are left out.
        fileprivate var leftOut: [String] = []
        /// Folders of which it does not tell all: the folder itself, or some in it.
        fileprivate var unheard: [String?] = []
        /// Whether it is not there any more.
        fileprivate var isAbsent = false
        /// Whether something in it is passed over, as it may be a file of ours.
        fileprivate var isUnproven = false
        /// The folder's version, where it is used; whether it is the one that it was listed at.
        fileprivate(set) var version: Revision?
        fileprivate(set) var isSameVersion = false
        /// The folders above it that wait for others, once it is listed.
        fileprivate(set) var above: [Above] = []
        /// The folders that are listed with all that lies below, once it is.
        fileprivate(set) var whole: [ListedReference] = []
        /// Files in it that may have been moved there.
        fileprivate(set) var moved: [Moves.Arrival] = []
        /// The versions of those that are known by them.
        fileprivate var taken: Set<Revision> = []
        /// Of a single folder, whether something in it is missing, or may have been moved there.
        fileprivate(set) var leavesOpen = false
        /// What the server had in it, and has not any more.
        package fileprivate(set) var missing: [String] = []

        /// How many entities in it were not known.
        var foundCount: Int { found.count(where: \.isNew) }
    }

    let tree: TreeRule
    /// The folder that is listed next, or now.
    var folder = Folder()
    /// Those that come after it, the next one last.
    var waiting: [Folder] = []
    /// What the server has in each folder, as far as is known.
    private(set) var members: [String?: [Slot: Member]] = [:]
    private(set) var places: [ExactString: Place] = [:]
    private(set) var marked: [ExactString: String] = [:]
    /// Entities that turned out to be the same on the server: one of them stays, with what lies in
    /// any of them.
    private(set) var twins: Set<ExactString> = []
    /// Entities that it does not have any more, as far as is known.
    private var gone: [ExactString: String] = [:]
    /// Entities that are deleted here, and that the server has, as far as is known.
    var leaving: Set<ExactString> = []
    /// Folders that were deleted here, and that the server does not have any more.
    var ended: Set<ExactString> = []
    /// The server's ids that the lists of this walk told so far.
    var toldMarks: Set<ExactString> = []
    /// Folders that were made here and that the server does not have.
    private var unsent: [Place: String] = [:]
    /// Where files lie that were made here, if the server has them: that is not known.
    private var unproven: Set<Place> = []
    /// How many entities it found that were not known.
    var foundCount = 0
    /// 2 where all folders are listed once more, for what is missing.
    var pass = 1
    /// The folders that this pass does not list, with all that lies below: they are as they were,
    /// they failed, or an earlier run listed them.
    var passedOver: Set<ExactString> = []
    /// The folders that an earlier run listed, without those in them.
    var listedBefore: Set<String?> = []
    /// What was missing before this pass, or before this run.
    var missed: Set<ExactString> = []
    /// The folders of which the first pass tells nothing, or not all.
    var unheard: [String?: Unheard] = [:]
    /// Whether the second pass tells nothing of others, in which what is missing may be.
    var isUnsure = false
    /// Whether anything follows from what a list does not name.
    var tellsMissing = true
    /// What may have been moved, where the server tells no ids.
    var moves: Moves
    /// How the versions of folders are used.
    var use = VersionUse.none
    /// The versions at which folders were listed with all that lies below, the root's without id.
    var versions: [String: Revision] = [:]
    /// The versions at which they were listed in the first pass.
    var heard: [String: Revision] = [:]
    /// The folders in which others are to be listed before all that lies below is.
    var above: [Above] = []
    /// Whether something changed in a folder whose version stayed.
    var isUnmoved = false
    /// Whether a single folder is listed, and whether the server has it, as far as is known.
    var isOfOneFolder = false
    var isThere = true
    /// The folders that are listed with all that lies in them, as they are to be deleted.
    var deleted: [String] = []
    /// Whether something is missing in that folder, or may have been moved there.
    private(set) var leavesOpen = false
    /// Whether only what lies in that folder is known.
    var isNarrow = false

    /// Whether it counts what is missing, and what may have been moved.
    var looksForMissing: Bool { tellsMissing || isOfFolders }

    /// Whether only some folders are listed.
    var isOfFolders: Bool { isOfOneFolder || !deleted.isEmpty }

    /// - Parameter fields: those that stay as they are where a file is moved.
    package init(_ tree: TreeRule, keptByMoves fields: [String] = []) {
        self.tree = tree
        moves = Moves(keeping: fields)
    }

    /// Nil where the server does not know the collection by paths.
    init?(_ collection: CollectionModel, _ traits: ServerTraits) {
        guard let tree = collection.tree, tree.isByPath else { return nil }
        self.init(tree, keptByMoves: traits.keptByMoves)
    }

    // MARK: What is known before

    /// Notes an entity that the server has.
    ///
    /// - Parameter revision: its version there, where that is known.
    package mutating func know(
        _ id: String, _ spot: TreeSpot, _ document: JSONDocument, _ revision: Revision? = nil
    ) {
        if tree.serverID == nil, let revision, !tree.isFolder(document) {
            moves.know(id, at: revision, document)
        }
        note(
            Member(id: id, isFolder: tree.isFolder(document), mark: tree.serverID(in: document)),
            at: Place(folder: spot.parent, name: ExactString(spot.name)))
    }

    /// Notes an entity that the server does not have any more, as far as is known: it may be there
    /// again, at another place.
    package mutating func remember(_ id: String, _ document: JSONDocument) {
        guard let mark = tree.serverID(in: document), gone[mark] == nil else { return }
        gone[mark] = id
    }

    /// Notes an entity that was made here and that the server does not have.
    ///
    /// - Parameter isSent: whether it may be there all the same, as it was sent and there is no
    ///   answer. A file is compared first, by itself: no list tells whether it is the one.
    package mutating func expect(
        _ id: String, _ spot: TreeSpot, _ document: JSONDocument, isSent: Bool = false
    ) {
        let place = Place(folder: spot.parent, name: ExactString(spot.name))
        guard tree.isFolder(document) else {
            if isSent { unproven.insert(place) }
            return
        }
        unsent[place] = min(id, unsent[place] ?? id)
    }

    private mutating func note(_ member: Member, at place: Place) {
        // It lies at one place only.
        if let old = places.updateValue(place, forKey: ExactString(member.id)) {
            for there in members(at: old) where there.id == member.id {
                members[old.folder]?[Slot(name: old.name, isFolder: there.isFolder)] = nil
            }
        }
        let slot = Slot(name: place.name, isFolder: member.isFolder)
        members[place.folder, default: [:]][slot] = member
        guard let mark = member.mark else { return }
        if let other = marked.updateValue(member.id, forKey: mark), other != member.id {
            twins.formUnion([ExactString(other), ExactString(member.id)])
        }
    }

    /// Has a single folder listed; with an empty id the root.
    package mutating func keep(toFolder id: String) {
        isOfOneFolder = true
        guard !id.isEmpty else { return }
        let known = knownFolder(id)
        isThere = known != nil
        // What was made here the server has not heard of; any other one it may have somewhere.
        leavesOpen = !isThere && !unsent.values.contains(id)
        folder = known ?? Folder(id: id)
    }

    /// A folder by its path; nil where the server does not have it, as far as is known.
    func knownFolder(_ id: String) -> Folder? {
        guard let place = place(of: id), member(at: place, isFolder: true) != nil else {
            return nil
        }
        var path: [String] = []
        var next: String? = id
        var seen: Set<String> = []
        while let id = next, seen.insert(id).inserted, let place = self.place(of: id) {
            path.insert(place.name.text, at: 0)
            next = place.folder
        }
        return next == nil ? Folder(id: id, path: path.joined(separator: "/")) : nil
    }

    // MARK: A folder's list

    /// Makes a folder's list one of entities: with ids for paths, the folder's among their fields,
    /// and the path of the folder that is listed next.
    ///
    /// - Parameter asOf: the log's last position when the walk began; new ids are made of it.
    package func place(_ page: inout ListPage, asOf: Position) {
        var step = Step()
        // It may be any of those that were known there.
        if page.unreadable.contains(where: { $0.id == nil }) { page.isPartial = true }
        var (count, marks) = (foundCount, toldMarks)
        var records: [ServerRecord] = []
        for record in page.records {
            guard let name = name(of: record.id), let bytes = record.document,
                let document = try? JSONDocument(parsing: bytes)
            else {
                page.unreadable.append(
                    UnreadableRecord(
                        id: record.id, bytes: record.document ?? [],
                        problem: "it does not lie in \"\(folder.path)\""))
                continue
            }
            let place = Place(folder: folder.id, name: ExactString(name))
            let isFolder = tree.isFolder(document)
            let mark = tree.serverID(in: document)
            // A link to what lies elsewhere is no entity of its own.
            guard
                mark.map({ marks.insert($0).inserted && !stays($0, besides: place, page) }) ?? true
            else {
                page.unreadable.append(
                    UnreadableRecord(
                        id: record.id, bytes: bytes,
                        problem: "another one has the same id on the server"))
                continue
            }
            var known = id(at: place, isFolder: isFolder, mark)
            if known == nil, !isFolder, unproven.contains(place) {
                step.isUnproven = true
                continue
            }
            if known == nil, let revision = movedVersion(of: record, document, isFolder: isFolder) {
                // What it is the second pass says, once all folders were listed.
                guard pass > 1 else {
                    step.moved.append(Moves.Arrival(revision: revision, folder: folder.id))
                    continue
                }
                known = step.taken.contains(revision) ? nil : moves.id(arrivedAt: revision)
                step.taken.insert(revision)
            }
            if known == nil { count += 1 }
            let id = known ?? "@\(asOf.rawValue).\(count)"
            step.found.append(
                Step.Found(
                    place: place, member: Member(id: id, isFolder: isFolder, mark: mark),
                    isNew: known == nil))
            if isFolder, isListed(id, at: record.revision) {
                step.leftOut.append(id)
            } else if isFolder {
                step.folders.append(Folder(id: id, path: record.id))
            }
            records.append(
                ServerRecord(
                    id: id, revision: record.revision, serverTime: record.serverTime,
                    parsed: tree.placing(
                        document, of: id, record.revision, in: place.folder,
                        as: place.name.text)))
        }
        page.records = records
        // What can't be read says nothing of the entity there, nor of what lies in it. It may be a
        // folder that was listed before it was moved there: the next pass lists it.
        if !page.unreadable.isEmpty { step.unheard.append(folder.id) }
        for record in page.unreadable {
            guard let path = record.id, let name = name(of: path) else { continue }
            for there in members(at: Place(folder: folder.id, name: ExactString(name))) {
                page.unspoken += [there.id] + below(there.id)
                if there.isFolder { step.unheard.append(there.id) }
            }
        }
        if page.isPartial {
            page.unspoken += belowFolder
            step.unheard.append(folder.id)
            step.isAbsent = page.isAbsent
        }
        step.missing = missing(besides: step.found.map(\.member.id) + page.unspoken)
        if isOfOneFolder {
            step.leavesOpen =
                page.isPartial || !step.missing.isEmpty || !step.moved.isEmpty
            (step.missing, step.moved, step.folders) = ([], [], [])
        }
        if !deleted.isEmpty {
            // What was moved there another walk tells; what is missing is not deleted with it.
            step.leavesOpen = !step.moved.isEmpty
            (step.missing, step.moved) = ([], [])
        }
        step.folders.sort { $1.path.utf8.lexicographicallyPrecedes($0.path.utf8) }
        page.next = (step.folders.last ?? waiting.last)?.path
        note(page, in: &step)
        page.cursor = nil
        page.step = step
    }

    /// Notes the version of the folder that is listed now.
    private func note(_ page: ListPage, in step: inout Step) {
        guard use != .none else { return }
        step.version = page.cursor
        step.isSameVersion = page.cursor.map { isKnown(folder.id, at: $0) } ?? false
        guard pass == 1 else { return }
        let isWhole =
            tellsMissing && !page.isPartial && page.unreadable.isEmpty && step.missing.isEmpty
            && step.moved.isEmpty && !step.isUnproven
        (step.above, step.whole) = closing(
            Above(id: folder.id, version: page.cursor, left: step.folders.count, isWhole: isWhole))
        step.whole.removeAll { versions[$0.id] == $0.revision }
    }

    /// What the server had in the folder that is listed now, but for some.
    private func missing(besides named: [String]) -> [String] {
        guard looksForMissing, pass == 1, let known = members[folder.id] else { return [] }
        return Set(known.values.map { ExactString($0.id) })
            .subtracting(named.map { ExactString($0) }).inOrder
    }

    /// Goes on behind a folder's list.
    package mutating func took(_ step: Step) {
        count(step)
        for found in step.found {
            unsent[found.place] = nil
            if let mark = found.member.mark { toldMarks.insert(mark) }
            note(found.member, at: found.place)
        }
        noteVersions(step)
        passedOver.formUnion(step.leftOut.map { ExactString($0) })
        waiting += step.folders
        if let next = waiting.popLast() { folder = next }
    }

    /// Adds how many entities a folder's list found, and what is to be looked for.
    mutating func count(_ step: Step) {
        foundCount += step.foundCount
        if step.leavesOpen { leavesOpen = true }
        moves.arrived += step.moved
        for revision in step.taken { moves.take(revision) }
        for folder in step.unheard { noteUnheard(folder, step.isAbsent ? .absent : .unshown) }
    }

    /// Goes on behind a folder that could not be listed.
    ///
    /// - Returns: the path of the folder that is listed next; nil where none is left.
    mutating func skip() -> String? {
        noteUnheard(folder.id, .failed)
        if let id = folder.id { passedOver.insert(ExactString(id)) }
        above = closing(Above(id: folder.id, version: nil, left: 0, isWhole: false)).above
        guard let next = waiting.popLast() else { return nil }
        folder = next
        return next.path
    }

    /// The walk without what is known of the tree, which may be very much.
    var withoutEntities: TreeWalk {
        var walk = TreeWalk(tree)
        (walk.folder, walk.foundCount, walk.pass, walk.use) = (folder, foundCount, pass, use)
        (walk.moves, walk.unheard) = (moves, unheard)
        (walk.isUnsure, walk.isUnmoved) = (isUnsure, isUnmoved)
        (walk.isOfOneFolder, walk.deleted) = (isOfOneFolder, deleted)
        return walk
    }

    /// The name of a member by its path; nil where it is not in the folder.
    func name(of path: String) -> String? {
        guard !folder.path.isEmpty else {
            return path.utf8.contains(UInt8(ascii: "/")) || path.isEmpty ? nil : path
        }
        let prefix = folder.path.utf8.count + 1
        guard path.utf8.count > prefix, path.utf8.starts(with: (folder.path + "/").utf8),
            let name = String(path.utf8.dropFirst(prefix)), !name.utf8.contains(UInt8(ascii: "/"))
        else { return nil }
        return name
    }

    private func id(at place: Place, isFolder: Bool, _ mark: ExactString?) -> String? {
        if let mark, let id = marked[mark] ?? gone[mark] { return id }
        if let there = member(at: place, isFolder: isFolder), mark == nil || there.mark == nil {
            return there.id
        }
        return isFolder ? unsent[place] : nil
    }

    /// The file or the folder that the server has at a place.
    private func member(at place: Place, isFolder: Bool) -> Member? {
        members[place.folder]?[Slot(name: place.name, isFolder: isFolder)]
    }

    /// Both of them, the file first.
    private func members(at place: Place) -> [Member] {
        [false, true].compactMap { member(at: place, isFolder: $0) }
    }

    /// Whether a member of the folder that is listed now, by its path, is known to lie there.
    func knows(_ path: String, _ document: JSONDocument) -> Bool {
        guard let name = name(of: path) else { return false }
        let place = Place(folder: folder.id, name: ExactString(name))
        let (mark, isFolder) = (tree.serverID(in: document), tree.isFolder(document))
        let known = id(at: place, isFolder: isFolder, mark)
        guard let there = member(at: place, isFolder: isFolder), there.id == known else {
            return false
        }
        return mark == nil || there.mark == mark
    }

    /// What the server has in the folder that is listed now, near and far.
    var belowFolder: [String] {
        folder.id.map(below) ?? places.keys.map(\.text).sorted()
    }

    /// What the server has in a folder, near and far.
    private func below(_ id: String) -> [String] {
        var found: [String] = []
        var waiting = [id]
        var seen: Set<String> = [id]
        while let next = waiting.popLast() {
            let ids = (members[next] ?? [:]).values.map(\.id).sorted()
            for id in ids where seen.insert(id).inserted {
                found.append(id)
                waiting.append(id)
            }
        }
        return found
    }
}
