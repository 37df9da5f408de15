// TreeWalk+Moves.swift — what is found at another place than before, moved or not.
//
// By an id of the server's it was moved, unless the folder in which it lay is passed over: there it
// stays, and what is found is a link to it.
//
// On a server that tells no ids, files are known by a version that no other file has, and by what a
// move keeps beside it.
//
//   pass 1   a file came whose version one had that is known   it is left out, and counted
//   pass 2   one is missing, and one came, with the version    that one was moved
//            else                                              it is a new one

import TidemarkEvents

extension TreeWalk {
    /// What may have been moved.
    struct Moves: Sendable, Hashable {
        /// A file that came, where one that is known had its version.
        struct Arrival: Sendable, Hashable {
            var revision: Revision
            var folder: String?
        }

        /// A file that had a version, and what a move would have kept.
        private struct Known: Sendable, Hashable {
            var id: String
            var kept: [JSONValue?]
        }

        /// The fields that a move keeps.
        let fields: [String]
        /// The file that had a version; nil where several had.
        private var known: [Revision: Known?] = [:]
        /// What came, as far as folders were listed for the first time.
        var arrived: [Arrival] = []
        /// The files that are missing after all were, by their versions, where one came instead.
        private var missing: [Revision: String] = [:]

        init(keeping fields: [String] = []) { self.fields = fields }

        mutating func know(_ id: String, at revision: Revision, _ document: JSONDocument) {
            let one = Known(id: id, kept: fields.map { document.value($0) })
            known[revision] = .some(known[revision] == nil ? one : nil)
        }

        /// Whether a file had a version, and nothing that a move keeps is known to be another.
        func has(_ revision: Revision, _ document: JSONDocument) -> Bool {
            guard let known = known[revision] else { return false }
            guard let known else { return true }
            return zip(fields, known.kept).allSatisfy { field, value in
                guard let value, let new = document.value(field) else { return true }
                return value == new
            }
        }

        /// Takes in what is missing after the first pass.
        mutating func end(missing ids: Set<ExactString>) {
            var counts: [Revision: Int] = [:]
            for arrival in arrived { counts[arrival.revision, default: 0] += 1 }
            for (revision, count) in counts where count == 1 {
                guard let id = (known[revision] ?? nil)?.id, ids.contains(ExactString(id)) else {
                    continue
                }
                missing[revision] = id
            }
        }

        /// The file that was moved, where one came with a version.
        func id(arrivedAt revision: Revision) -> String? { missing[revision] }

        /// Takes in that it came: another one with the version is a new one.
        mutating func take(_ revision: Revision) { missing[revision] = nil }
    }

    /// What a page says of files that came, so that a later run knows of them.
    static func references(to arrived: [Moves.Arrival]) -> [ListedReference] {
        arrived.map { ListedReference(id: $0.folder ?? "", revision: $0.revision) }
    }

    /// Whether what has an id of the server's stays where it is known to lie, at another place than
    /// the one at which the page of a folder has it.
    func stays(_ mark: ExactString, besides place: Place, _ page: ListPage) -> Bool {
        guard let id = marked[mark].map({ ExactString($0) }), let known = places[id],
            known != place, !twins.contains(id), !missed.contains(id)
        else { return false }
        if listedBefore.contains(known.folder) { return true }
        var next = known.folder
        var seen: Set<String> = []
        while let folder = next, folder != self.folder.id, seen.insert(folder).inserted {
            if passedOver.contains(ExactString(folder)) { return true }
            guard let above = self.place(of: folder) else { return false }
            // The page that names the link may be the one that has the folder left out.
            if above.folder == self.folder.id {
                return page.records.contains { record in
                    name(of: record.id) == above.name.text
                        && isListed(folder, at: record.revision)
                }
            }
            next = above.folder
        }
        return false
    }

    /// The version by which a file may be one that was moved; nil where it can't be.
    func movedVersion(
        of record: ServerRecord, _ document: JSONDocument, isFolder: Bool
    ) -> Revision? {
        guard tree.serverID == nil, looksForMissing, !isFolder,
            record.isKnownByVersion, let revision = record.revision, moves.has(revision, document)
        else { return nil }
        return revision
    }

    /// Takes in what is missing once all folders were listed, before they are listed once more.
    mutating func endMoves(missing: Set<ExactString>) {
        // Where one came is listed again, whatever its version.
        for arrival in moves.arrived { forgetVersions(through: arrival.folder) }
        moves.end(missing: missing)
    }
}

extension TreeWalk.Moves.Arrival {
    /// What a page of an earlier run says; nil where it tells no version.
    init?(_ reference: ListedReference) {
        guard let revision = reference.revision else { return nil }
        self.init(revision: revision, folder: reference.id.isEmpty ? nil : reference.id)
    }
}
