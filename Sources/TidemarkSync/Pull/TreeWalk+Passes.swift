// TreeWalk+Passes.swift — a walk that lists all folders once more, for what is missing, and one
// that goes on where an earlier run left it.
//
// Folders are listed in the order of their paths, each before those beside it: the path of the next
// one tells which were listed. What is moved meanwhile, so that no list of a pass names it, lies in
// a folder that the next pass lists.

import TidemarkEvents

extension TreeWalk {
    /// Lists all folders once more, for what is missing.
    ///
    /// - Parameter unreached: that, and what lies in it: folders among it were not listed, and are
    ///   where they are found again.
    mutating func beginAgain(
        for missing: Set<ExactString> = [], in unreached: Set<ExactString> = []
    ) {
        endMoves(missing: missing)
        for id in unreached { forgetVersion(of: id.text) }
        // So are those that could not be listed.
        for folder in unheard.keys { forgetVersions(through: folder) }
        pass = 2
        missed = missing.union(unreached)
        (passedOver, listedBefore) = ([], [])
        (folder, waiting, toldMarks, above) = (Folder(), [], [], [])
    }

    /// Goes on where an earlier run left it.
    ///
    /// - Parameters:
    ///   - state: with the path of the folder that was to be listed next.
    ///   - missing: what was missing until then.
    /// - Returns: the path of the folder that is listed next; empty for the root, nil where none is
    ///   left.
    mutating func goOn(_ state: ListState, without missing: Set<ExactString>) -> String? {
        (foundCount, pass) = (state.found, state.pass)
        // What the pass before heard is not known any more: a folder that was moved has the version
        // that it had.
        if pass > 1 { forgetAllVersions() }
        guard let path = state.next, !path.isEmpty else { return state.next }
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map {
            ExactString(String(decoding: $0, as: UTF8.self))
        }
        var here = Folder()
        missed = missing
        for (index, name) in names.enumerated() {
            // Those behind it lie beside it, and beside the folders in which it lies.
            var behind = folders(in: here, without: missing)
            let path = here.path(of: name).text.utf8
            while let first = behind.last, first.path.utf8.lexicographicallyPrecedes(path) {
                if let id = first.id { passedOver.insert(ExactString(id)) }
                behind.removeLast()
            }
            listedBefore.insert(here.id)
            let isThere = behind.last.map { ExactString($0.path) == here.path(of: name) } ?? false
            guard isThere, index + 1 < names.count, let next = behind.popLast() else {
                waiting += behind
                break
            }
            waiting += behind
            here = next
        }
        guard let next = waiting.popLast() else { return nil }
        folder = next
        return next.path
    }

    /// Why the list of a folder does not tell all that lies in it.
    enum Unheard: Sendable, Hashable {
        /// It failed, and may be listed another time.
        case failed
        /// The server does not show it, or not all of it.
        case unshown
        /// It was not there any more.
        case absent
    }

    /// Notes that a folder's list does not tell all that lies in it.
    ///
    /// What is missing may lie in it, unless it was so in both passes for the same reason, which
    /// was no failure.
    mutating func noteUnheard(_ folder: String?, _ reason: Unheard) {
        if pass == 1 {
            unheard[folder] = reason
        } else if reason == .failed || unheard[folder] != reason {
            isUnsure = true
        }
    }

    /// Where the server has an entity; nil where it is not known.
    func place(of id: String) -> Place? { places[ExactString(id)] }

    /// The folders in a folder, the first one last.
    private func folders(in folder: Folder, without missing: Set<ExactString>) -> [Folder] {
        (members[folder.id] ?? [:]).compactMap { slot, member in
            guard slot.isFolder, !missing.contains(ExactString(member.id)) else { return nil }
            return Folder(id: member.id, path: folder.path(of: slot.name).text)
        }.sorted { $1.path.utf8.lexicographicallyPrecedes($0.path.utf8) }
    }

    /// What the server had, and what no folder holds any more.
    ///
    /// - Parameter missing: what lists of folders did not name.
    /// - Returns: that, and what lies in it, or nowhere.
    func unreached(without missing: Set<ExactString>) -> Set<ExactString> {
        guard tellsMissing else { return [] }
        var reached: Set<ExactString> = []
        var waiting: [String?] = [nil]
        while let next = waiting.popLast() {
            for member in (members[next] ?? [:]).values
            where !missing.contains(ExactString(member.id)) {
                if reached.insert(ExactString(member.id)).inserted { waiting.append(member.id) }
            }
        }
        return missing.union(places.keys.filter { !reached.contains($0) })
    }

    /// Whether an entity lay in a folder that was deleted here and is not there again: it went with
    /// that.
    func wentAlong(_ id: ExactString) -> Bool { isDeleted(id, leaving: []) }

    /// Whether an entity is deleted here, or lay in a folder that is.
    func isDeletedHere(_ id: ExactString) -> Bool { isDeleted(id, leaving: leaving) }

    private func isDeleted(_ id: ExactString, leaving: Set<ExactString>) -> Bool {
        guard !ended.isEmpty || !leaving.isEmpty else { return false }
        var next = id
        var seen: Set<ExactString> = []
        while seen.insert(next).inserted {
            if leaving.contains(next) { return true }
            guard let place = places[next] else { return next != id && ended.contains(next) }
            guard let folder = place.folder else { return false }
            next = ExactString(folder)
        }
        return false
    }
}

extension TreeWalk.Folder {
    /// The path of a name in it.
    func path(of name: ExactString) -> ExactString {
        ExactString(path.isEmpty ? name.text : "\(path)/\(name.text)")
    }
}
