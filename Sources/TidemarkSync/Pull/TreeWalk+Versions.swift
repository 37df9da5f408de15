// TreeWalk+Versions.swift — folders that are not listed, as their versions move with everything
// that lies below and are the ones at which they were listed.
//
// The version of a folder counts once all that lies below it is listed, so that a walk which is cut
// short loses nothing: the next one comes to what is left through the same folders again.

import TidemarkEvents

extension TreeWalk {
    /// How the versions of folders are used.
    enum VersionUse: Sendable, Hashable {
        /// They tell nothing.
        case none
        /// All folders are listed, and their versions noted.
        case noted
        /// Those are left out whose version is the one at which they were listed.
        case skipping
    }

    /// A folder in which others are to be listed before it is listed with all that lies below.
    struct Above: Sendable, Hashable {
        var id: String?
        var version: Revision?
        /// How many of the folders in it are still to be listed.
        var left: Int
        /// Whether all of it can be known by its version.
        var isWhole: Bool
    }

    /// Whether a folder need not be listed.
    ///
    /// When all folders are listed once more, those are left out that are as they were before.
    func isListed(_ id: String, at version: Revision?) -> Bool {
        guard use == .skipping || use == .noted && pass > 1, let version else { return false }
        return isKnown(id, at: version)
    }

    /// Whether a folder was listed at a version; without an id the root.
    func isKnown(_ id: String?, at version: Revision) -> Bool {
        let id = id ?? ""
        guard !twins.contains(ExactString(id)) else { return false }
        return (pass > 1 ? heard[id] ?? versions[id] : versions[id]) == version
    }

    /// Takes in the versions of which a folder's list tells.
    mutating func noteVersions(_ step: Step) {
        guard use != .none, pass == 1 else { return }
        above = step.above
        heard[folder.id ?? ""] = step.version
        for folder in step.whole { versions[folder.id] = folder.revision }
    }

    /// The folders that wait for others after one was listed, and those that are listed with all
    /// that lies below by now.
    func closing(_ folder: Above) -> (above: [Above], whole: [ListedReference]) {
        var (above, whole) = (above + [folder], [ListedReference]())
        while let last = above.last, last.left == 0 {
            above.removeLast()
            if last.isWhole, let version = last.version {
                whole.append(ListedReference(id: last.id ?? "", revision: version))
            }
            guard let outer = above.indices.last else { break }
            above[outer].left -= 1
            if !last.isWhole { above[outer].isWhole = false }
        }
        return (above, whole)
    }

    /// Has a folder listed whatever its version; without an id the root.
    mutating func forgetVersion(of id: String?) {
        (heard[id ?? ""], versions[id ?? ""]) = (nil, nil)
    }

    /// Has all folders listed whatever their versions.
    mutating func forgetAllVersions() { (heard, versions) = ([:], [:]) }

    /// Has a folder listed whatever its version, and those in which it lies.
    mutating func forgetVersions(through folder: String?) {
        var next = folder
        var seen: Set<String?> = []
        while seen.insert(next).inserted {
            forgetVersion(of: next)
            guard let id = next else { break }
            next = place(of: id)?.folder
        }
    }

    /// Leaves no folder out any more: something changed in one whose version stayed.
    mutating func useNoVersions() {
        (isUnmoved, use, above) = (true, .none, [])
    }
}
