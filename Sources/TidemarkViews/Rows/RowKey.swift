// RowKey.swift — where a view row lies: in which tree, under which key, and to which view it
// belongs.
//
//   tree    key
//   rows    collection 0 id: an entity
//   ledger  a letter, and what stands behind it: see LedgerSort

package import TidemarkEvents
import TidemarkStore

/// A tree of view rows.
package enum Tree: UInt8, Sendable, CaseIterable {
    case rows = 1
    case ledger = 3
}

/// A projection of the log.
package enum View: UInt32, Sendable, CaseIterable {
    case entities = 1
    case outbox = 2
    case bindings = 3
    case watermarks = 4
    case decisions = 5
    case syncRuns = 6
    case schedule = 7
    case store = 8
    case idempotencyKeys = 9
    case issues = 10
    case placeholders = 11
    case rivals = 12
    case access = 13
    case contents = 14
    case rollUps = 15
    case pools = 16
    case places = 17

    /// Raised whenever the same events would give other rows; where they do so only with trees,
    /// that of ``places``.
    package var version: Int {
        switch self {
        case .entities: 28
        case .decisions: 27
        case .outbox: 26
        case .watermarks, .contents: 22
        case .issues: 21
        case .schedule: 13
        case .places: 11
        case .access: 10
        case .placeholders, .rivals: 8
        case .rollUps: 7
        case .syncRuns: 6
        case .bindings: 5
        case .pools: 3
        case .idempotencyKeys: 2
        case .store: 1
        }
    }
}

/// The place of one view row.
package struct RowKey: Hashable, Comparable, Sendable {
    package let tree: Tree
    package let bytes: [UInt8]

    /// The most bytes of a key that a table takes.
    package static let bytesMax = 511

    package init(_ tree: Tree, _ bytes: [UInt8]) {
        self.tree = tree
        self.bytes = bytes
    }

    private init(_ tree: Tree, _ position: Position, after prefix: [UInt8]) {
        self.tree = tree
        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefix.count + 8)
        bytes.append(contentsOf: prefix)
        position.appendBigEndianBytes(to: &bytes)
        self.bytes = bytes
    }

    package static func entity(_ key: EntityKey) -> RowKey { RowKey(.rows, key.bytes) }
    package static func binding(_ alias: EntityKey) -> RowKey {
        RowKey(.ledger, alias.bytes(after: Ledger.bindings))
    }
    /// The ids that an entity goes by beside that of its key.
    package static func aliases(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.aliases))
    }
    /// The entities of a collection with a write that may be on the server without our knowing.
    package static func unanswered(_ collection: CollectionName) -> RowKey {
        RowKey(.ledger, Ledger.unanswered + collection.rawValue.utf8)
    }
    package static func decision(_ position: Position, _ index: Int) -> RowKey {
        RowKey(.ledger, Ledger.decisions + place(position, index))
    }
    /// A conflict that the local side lost, by the place of its decision.
    package static func lost(_ position: Position, _ index: Int) -> RowKey {
        RowKey(.ledger, Ledger.lost + place(position, index))
    }
    /// What both sides had in the lost conflicts of an event.
    package static func sides(_ position: Position) -> RowKey {
        RowKey(.ledger, position, after: Ledger.sides)
    }
    /// The last place of a decision among those of its event.
    package static let indexMax = Int(UInt16.max)
    private static func place(_ position: Position, _ index: Int) -> [UInt8] {
        position.bigEndianBytes
            + [UInt8(truncatingIfNeeded: index >> 8), UInt8(truncatingIfNeeded: index)]
    }
    package static func held(_ target: PullTarget) -> RowKey {
        RowKey(.ledger, Ledger.held + target.bytes)
    }
    package static func gate(_ name: String) -> RowKey {
        RowKey(.ledger, Ledger.gates + name.utf8)
    }
    /// What the server's clock is believed to show.
    package static let clock = gate("clock")
    /// A mutation that waits for the server or, refused by it, for the user.
    package static func open(_ position: Position) -> RowKey {
        RowKey(.ledger, position, after: Ledger.open)
    }
    /// A mutation that waits for nothing any more.
    package static func settled(_ position: Position) -> RowKey {
        RowKey(.ledger, position, after: Ledger.settled)
    }
    /// A settled mutation that follows from a rule, by the event that made it follow and its
    /// entity.
    package static func settledDerived(_ position: Position, _ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.settledDerived + position.bigEndianBytes))
    }
    package static func openDerived(_ position: Position, _ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.openDerived + position.bigEndianBytes))
    }
    /// Up to which event rows go with their events.
    package static let dropped = RowKey(.ledger, Ledger.dropped)
    package static func placeholder(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.placeholders))
    }
    package static func rival(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.rivals))
    }
    /// How many entities are hidden that their list may hide; no row for none.
    package static let hiddenCount = RowKey(.ledger, Ledger.hidden)
    package static func ruleAnswer(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.ruleAnswers))
    }
    package static func syncRun(_ position: Position) -> RowKey {
        RowKey(.ledger, position, after: Ledger.syncRuns)
    }
    /// The answer in which the server said something of an entity; until the next one.
    package static func warned(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.warned))
    }
    /// The page whose word on an entity was left out, until the server's word is taken.
    package static func withheld(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.withheld))
    }
    package static func attempt(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.attempts))
    }
    package static func watermark(_ target: PullTarget) -> RowKey {
        RowKey(.ledger, Ledger.watermarks + target.bytes)
    }
    package static func listed(_ target: PullTarget) -> RowKey {
        RowKey(.ledger, Ledger.listed + target.bytes)
    }
    package static func listedPage(_ target: PullTarget, _ number: Int) -> RowKey {
        let number = Position(UInt64(clamping: number)).bigEndianBytes
        return RowKey(.ledger, listedPages(target) + number)
    }
    /// What the keys of a list's pages begin with.
    static func listedPages(_ target: PullTarget) -> [UInt8] {
        // Only the name of a part ends with a zero byte of its own.
        Ledger.listedPages + target.bytes + (target.scope.isEmpty ? [] : [0])
    }
    package static func owed(_ target: PullTarget) -> RowKey {
        RowKey(.ledger, Ledger.owed + target.bytes)
    }
    package static func unreadable(_ collection: CollectionName, _ name: String) -> RowKey {
        RowKey(.ledger, Ledger.unreadable + EntityKey.prefix(of: collection) + name.utf8)
    }
    package static func store(_ name: String) -> RowKey {
        RowKey(.ledger, Ledger.store + name.utf8)
    }

    package static let keyQueue = RowKey(.ledger, Ledger.keys + [0])
    package static func queuedKey(_ number: UInt64) -> RowKey {
        RowKey(.ledger, Position(number), after: Ledger.keys + [1])
    }
    package static func writeKey(_ key: [UInt8]) -> RowKey {
        RowKey(.ledger, Ledger.keys + [2] + key)
    }

    /// What sort of row of the ledger it is; nil of an entity's.
    package var sort: LedgerSort? {
        guard tree == .ledger, let first = bytes.first else { return nil }
        return LedgerSort(rawValue: first)
    }

    /// The view that the row belongs to.
    package var view: View {
        guard tree == .ledger, let first = bytes.first else { return .entities }
        // Only a damaged key begins otherwise.
        return LedgerSort(rawValue: first)?.view ?? .outbox
    }

    /// The entity that the key names, by any of its ids; nil where it names none or several, and of
    /// roll-ups.
    package var namedEntity: EntityKey? {
        guard tree == .ledger else { return EntityKey(bytes: bytes) }
        switch sort {
        case .bindings, .aliases, .placeholders, .rivals, .attempts, .ruleAnswers, .failing,
            .warned, .withheld:
            return EntityKey(bytes: bytes.dropFirst())
        case .settledDerived, .openDerived, .overtaken:
            return EntityKey(bytes: bytes.dropFirst(9))
        case .dangling, .staged:
            let isNamed = [Ledger.dangling, Ledger.staged].contains(Array(bytes.prefix(2)))
            return isNamed ? EntityKey(bytes: bytes.dropFirst(2)) : nil
        case .grants: return Self.granted(bytes)
        case .contents: return entityOfContents
        case .places: return entityOfPlace
        default: return nil
        }
    }

    package static func < (left: RowKey, right: RowKey) -> Bool {
        if left.tree != right.tree { return left.tree.rawValue < right.tree.rawValue }
        return ByteOrder.precedes(left.bytes, right.bytes)
    }

    package func hash(into hasher: inout Hasher) {
        ByteOrder.hash(bytes, into: &hasher)
    }
}

/// What a row of the ledger is about: the first byte of its key, and what stands behind it.
package enum LedgerSort: UInt8, Sendable {
    case contents = 0x41  // 'A' …: ContentRows.swift, TransferRows.swift
    case dangling = 0x44  // 'D' …: DanglingRows.swift
    case grants = 0x47  // 'G' collection 0 id 0 action: what an action granted last
    case withheld = 0x48  // 'H' collection 0 id: what a list said, left out
    case tickets = 0x4A  // 'J' position: an answer that the server promised
    case dropped = 0x4D  // 'M': up to where rows go with their events
    case overtaken = 0x4F  // 'O' position, collection 0 id: OvertakenEdits.swift
    case pools = 0x50  // 'P' …: PoolRows.swift
    case rollUps = 0x52  // 'R' collection 0 id: RollUpRows.swift
    case staged = 0x53  // 'S' …: StagedRows.swift
    case places = 0x54  // 'T' …: PlaceRows.swift
    case warned = 0x57  // 'W' collection 0 id: what the server says of an entity
    case hidden = 0x61  // 'a': how many entities hide others
    case bindings = 0x62  // 'b' collection 0 alias
    case sides = 0x63  // 'c' position: both sides of lost conflicts
    case decisions = 0x64  // 'd' position, index (2 bytes)
    case unanswered = 0x65  // 'e' collection: writes that may be there unanswered
    case owed = 0x66  // 'f' collection 0 scope: a whole list that is owed
    case gates = 0x67  // 'g' name [0 group]: gates, clock, requests, attempts
    case held = 0x68  // 'h' collection 0 scope: entities held back from a sweep
    case lost = 0x69  // 'i' position, index (2 bytes): a conflict that the local side lost
    case placeholders = 0x6A  // 'j' collection 0 id
    case keys = 0x6B  // 'k' 0 | 1 number | 2 key: FoldKeys.swift
    case listed = 0x6C  // 'l' collection 0 scope: a list in the making
    case settled = 0x6D  // 'm' position: a mutation
    case settledDerived = 0x6E  // 'n' position, collection 0 id: a mutation by a rule
    case open = 0x6F  // 'o' position: a mutation
    case openDerived = 0x70  // 'p' position, collection 0 id: a mutation by a rule
    case unreadable = 0x71  // 'q' collection 0 name
    case ruleAnswers = 0x72  // 'r' collection 0 id: a rule's answer, until it is used
    case runs = 0x73  // 's' position
    case listedPages = 0x74  // 't' collection 0 [scope 0] number: a page of a list in the making
    case attempts = 0x75  // 'u' collection 0 id: an entity with an unknown attempt
    case rivals = 0x76  // 'v' collection 0 id: one that holds the state
    case watermarks = 0x77  // 'w' collection 0 scope
    case store = 0x78  // 'x' name: registered model, what opened it
    case aliases = 0x79  // 'y' collection 0 id: an entity's aliases
    case failing = 0x7A  // 'z' collection 0 id: calls that fail by themselves

    /// The view that rows of this sort belong to.
    package var view: View {
        switch self {
        case .contents: .contents
        case .pools: .pools
        case .rollUps: .rollUps
        case .places: .places
        case .hidden: .access
        case .bindings, .aliases: .bindings
        case .decisions, .ruleAnswers: .decisions
        case .gates, .failing: .schedule
        case .placeholders: .placeholders
        case .keys: .idempotencyKeys
        case .sides, .held, .lost, .unreadable, .dangling, .warned: .issues
        case .runs: .syncRuns
        case .rivals: .rivals
        case .owed, .listed, .listedPages, .watermarks, .withheld, .staged: .watermarks
        case .store: .store
        case .grants, .tickets, .dropped, .overtaken, .unanswered, .attempts, .settled,
            .settledDerived, .open, .openDerived:
            .outbox
        }
    }

    /// What keys of this sort begin with.
    package var prefix: [UInt8] { [rawValue] }
}

/// What ledger keys begin with, by what the row is about.
package enum Ledger {
    /// Mutations, open and settled, those that follow from rules, and what overtaken ones say.
    package static let outbox = [open, settled, openDerived, settledDerived, overtaken]
    /// Rows that go with their events, once these are dropped: those of what is over.
    package static let ofEvents = [settled, settledDerived, decisions, syncRuns]
    package static let aliases = LedgerSort.aliases.prefix
    package static let attempts = LedgerSort.attempts.prefix
    package static let warned = LedgerSort.warned.prefix
    package static let bindings = LedgerSort.bindings.prefix
    package static let decisions = LedgerSort.decisions.prefix
    package static let settledDerived = LedgerSort.settledDerived.prefix
    package static let dropped = LedgerSort.dropped.prefix
    package static let openDerived = LedgerSort.openDerived.prefix
    package static let placeholders = LedgerSort.placeholders.prefix
    package static let rivals = LedgerSort.rivals.prefix
    package static let failing = LedgerSort.failing.prefix
    package static let gates = LedgerSort.gates.prefix
    package static let hidden = LedgerSort.hidden.prefix
    package static let held = LedgerSort.held.prefix
    package static let keys = LedgerSort.keys.prefix
    package static let listed = LedgerSort.listed.prefix
    package static let listedPages = LedgerSort.listedPages.prefix
    package static let owed = LedgerSort.owed.prefix
    package static let lost = LedgerSort.lost.prefix
    package static let settled = LedgerSort.settled.prefix
    package static let open = LedgerSort.open.prefix
    package static let unanswered = LedgerSort.unanswered.prefix
    package static let unreadable = LedgerSort.unreadable.prefix
    package static let ruleAnswers = LedgerSort.ruleAnswers.prefix
    package static let sides = LedgerSort.sides.prefix
    package static let syncRuns = LedgerSort.runs.prefix
    package static let watermarks = LedgerSort.watermarks.prefix
    package static let withheld = LedgerSort.withheld.prefix
    package static let grants = LedgerSort.grants.prefix
    package static let store = LedgerSort.store.prefix
}

extension PullTarget {
    /// Collection, zero byte, and the part's name.
    var bytes: [UInt8] { EntityKey.prefix(of: collection) + scope.utf8 }

    /// Reads what ``bytes`` wrote.
    init?(bytes: ArraySlice<UInt8>) {
        guard let zero = bytes.firstIndex(of: 0), let name = String(utf8: bytes[..<zero]),
            let scope = String(utf8: bytes[(zero + 1)...])
        else { return nil }
        self.init(CollectionName(name), scope: scope)
    }
}

extension PullCompleted {
    /// The target that was listed to its end.
    package func target(_ collection: CollectionName) -> PullTarget {
        PullTarget(collection, scope: scope == PullPage.reconcileScope ? "" : scope)
    }
}

extension PullPage {
    /// The target that it is a page of.
    package func target(_ collection: CollectionName) -> PullTarget {
        PullTarget(collection, scope: isOfList && scope != Self.reconcileScope ? scope : "")
    }
}

extension RowKey {
    /// The mutation that stands there where it is open, or where it is settled.
    var mutation: (position: Position, isOpen: Bool)? {
        let isOpen = bytes.first == Ledger.open[0]
        guard isOpen || bytes.first == Ledger.settled[0],
            let position = Position(bigEndianBytes: bytes.dropFirst())
        else { return nil }
        return (position, isOpen)
    }
}
