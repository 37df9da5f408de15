// Injection.swift — a mishap that a replay injects: a restart, a commit or an answer twice, or one
// lost.

package import TidemarkCapsule
public import TidemarkEvents

/// A mishap that a replay injects at an event.
public struct Injection: Sendable, Hashable, CustomStringConvertible {
    /// The kind of mishap.
    @nonexhaustive public enum Kind: String, Sendable, CaseIterable {
        /// The process ends after the event's commit and starts again: everything in memory is
        /// lost.
        case restart
        /// The event's commit, or the answer in it, comes twice.
        case duplicate
        /// The event's commit, or the answer in it, is lost.
        case drop
    }

    /// The kind of mishap.
    public var kind: Kind
    /// The event at whose commit it happens.
    public var position: Position

    /// A mishap at an event.
    public init(_ kind: Kind, at position: Position) {
        self.kind = kind
        self.position = position
    }

    /// `restart@12`.
    public var description: String { "\(kind.rawValue)\(position)" }
}

/// A request to a replay that can't be fulfilled.
public struct ReplayMistake: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, and what would be right.
    public let description: String

    /// A mistake described in a sentence.
    package init(_ description: String) { self.description = description }
}

extension Injection {
    /// Reads `restart@12`.
    ///
    /// - Throws: ``ReplayMistake`` naming what is wrong.
    package init(parsing text: some StringProtocol) throws(ReplayMistake) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])),
            let position = Position(parts[1])
        else {
            let kinds = Kind.allCases.map { "\($0.rawValue)@P" }.joined(separator: ", ")
            throw ReplayMistake("\"\(text)\" is none of \(kinds); write restart@12")
        }
        self.init(kind, at: position)
    }

    /// Reads `restart@12,drop@30`.
    ///
    /// - Throws: ``ReplayMistake`` naming what is wrong.
    package static func list(parsing text: String) throws(ReplayMistake) -> [Injection] {
        var list: [Injection] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            list.append(try Injection(parsing: part))
        }
        return list
    }
}

extension Capsule {
    /// The index of the commit that an event belongs to.
    ///
    /// - Throws: ``ReplayMistake`` where the capsule has no such event.
    package func commitIndex(of position: Position) throws(ReplayMistake) -> Int {
        let index = commits.firstIndex { $0.last >= position }
        guard let index, commits[index].entries.contains(where: { $0.position == position }) else {
            let first = commits.first?.first ?? .start
            throw ReplayMistake(
                commits.isEmpty
                    ? "there is no event \(position): it has none at all"
                    : "there is no event \(position) in it; it has events from \(first) to \(last)")
        }
        return index
    }
}
