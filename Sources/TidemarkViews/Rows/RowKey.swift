// RowKey.swift — where a view row lies: in which tree, under which key, and to which view it
// belongs.
//
//   tree    key                                      view
//   rows    collection 0 id                          entities
//   ledger  'A' …                                    contents (ContentRows.swift)
//   ledger  'D' …                                    issues (DanglingRows.swift)
//   ledger  'G' collection 0 id 0 action             outbox (what an action granted last)
//   ledger  'H' collection 0 id                      watermarks (what a list said, left out)
//   ledger  'J' position                             outbox (FoldTickets.swift)
//   ledger  'M'                                      outbox (up to where rows go with their events)
//   ledger  'O' position, collection 0 id            outbox (OvertakenEdits.swift)
//   ledger  'R' collection 0 id                      roll-ups (RollUpRows.swift)
//   ledger  'S' …                                    watermarks (StagedRows.swift)
//   ledger  'T' …                                    places (PlaceRows.swift)
//   ledger  'W' collection 0 id                      issues (what the server says of entities)
//   ledger  'a'                                      access (how many entities hide others)
//   ledger  'b' collection 0 alias                   bindings
//   ledger  'c' position                             issues (both sides of lost conflicts)
//   ledger  'd' position, index (2 bytes)            decisions
//   ledger  'e' collection                           outbox (writes that may be there unanswered)
//   ledger  'f' collection 0                         watermarks (a whole list that is owed)
//   ledger  'g' name [0 group]                       schedule (gates, clock, requests, attempts)
//   ledger  'h' collection 0 scope                   issues (entities held back from a sweep)
//   ledger  'i' position, index (2 bytes)            issues (conflicts that the local side lost)
//   ledger  'j' collection 0 id                      placeholders (those that there are)
//   ledger  'k' 0 | 'k' 1 number | 'k' 2 key         idempotency keys (FoldKeys.swift)
//   ledger  'l' collection 0 scope                   watermarks (of a list in the making)
//   ledger  'm' position | 'o' position              outbox (a mutation: settled | open)
//   ledger  'n' position, collection 0 id            outbox (a settled derived mutation)
//   ledger  'p' position, collection 0 id            outbox (an open derived mutation)
//   ledger  'q' collection 0 name                    issues (what could not be read)
//   ledger  'r' collection 0 id                      decisions (a rule's answer, until it is used)
//   ledger  's' position                             sync runs
//   ledger  't' collection 0 [scope 0] number        watermarks (of a page of that list)
//   ledger  'u' collection 0 id                      outbox (entities with an unknown attempt)
//   ledger  'v' collection 0 id                      rivals (those that hold the state)
//   ledger  'w' collection 0 scope                   watermarks
//   ledger  'x' name                                 store (registered model, what opened it)
//   ledger  'y' collection 0 id                      bindings (an entity's aliases)
//   ledger  'z' collection 0 id                      schedule (calls that fail by themselves)

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
        case .watermarks: 22
        case .contents, .issues: 21
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

    /// The view that the row belongs to.
    package var view: View {
        guard tree == .ledger, let first = bytes.first else { return .entities }
        switch first {
        case UInt8(ascii: "A"): return .contents
        case UInt8(ascii: "P"): return .pools
        case UInt8(ascii: "R"): return .rollUps
        case UInt8(ascii: "T"): return .places
        case UInt8(ascii: "a"): return .access
        case UInt8(ascii: "b"), UInt8(ascii: "y"): return .bindings
        case UInt8(ascii: "d"), UInt8(ascii: "r"): return .decisions
        case UInt8(ascii: "g"), UInt8(ascii: "z"): return .schedule
        case UInt8(ascii: "j"): return .placeholders
        case UInt8(ascii: "k"): return .idempotencyKeys
        case UInt8(ascii: "c"), UInt8(ascii: "h"), UInt8(ascii: "i"), UInt8(ascii: "q"),
            UInt8(ascii: "D"), UInt8(ascii: "W"):
            return .issues
        case UInt8(ascii: "s"): return .syncRuns
        case UInt8(ascii: "v"): return .rivals
        case UInt8(ascii: "f"), UInt8(ascii: "l"), UInt8(ascii: "t"), UInt8(ascii: "w"),
            UInt8(ascii: "H"), UInt8(ascii: "S"):
            return .watermarks
        case UInt8(ascii: "x"): return .store
        default: return .outbox
        }
    }

    /// Whether the key of a row of the ledger can begin so.
    package static func isFirstByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || "ADGHJMOPRSTW".utf8.contains(byte)
    }

    package static func < (left: RowKey, right: RowKey) -> Bool {
        if left.tree != right.tree { return left.tree.rawValue < right.tree.rawValue }
        return ByteOrder.precedes(left.bytes, right.bytes)
    }

    package func hash(into hasher: inout Hasher) {
        ByteOrder.hash(bytes, into: &hasher)
    }
}

/// The first byte of a ledger key, by what the row is about.
package enum Ledger {
    /// Mutations, open and settled, those that follow from rules, and what overtaken ones say.
    package static let outbox = [open, settled, openDerived, settledDerived, overtaken]
    /// Rows that go with their events, once these are dropped: those of what is over.
    package static let ofEvents = [settled, settledDerived, decisions, syncRuns]
    package static let aliases = Array("y".utf8)
    package static let attempts = Array("u".utf8)
    package static let warned = Array("W".utf8)
    package static let bindings = Array("b".utf8)
    package static let decisions = Array("d".utf8)
    package static let settledDerived = Array("n".utf8)
    package static let dropped = Array("M".utf8)
    package static let openDerived = Array("p".utf8)
    package static let placeholders = Array("j".utf8)
    package static let rivals = Array("v".utf8)
    package static let failing = Array("z".utf8)
    package static let gates = Array("g".utf8)
    package static let hidden = Array("a".utf8)
    package static let held = Array("h".utf8)
    package static let keys = Array("k".utf8)
    package static let listed = Array("l".utf8)
    package static let listedPages = Array("t".utf8)
    package static let owed = Array("f".utf8)
    package static let lost = Array("i".utf8)
    package static let settled = Array("m".utf8)
    package static let open = Array("o".utf8)
    package static let unanswered = Array("e".utf8)
    package static let unreadable = Array("q".utf8)
    package static let ruleAnswers = Array("r".utf8)
    package static let sides = Array("c".utf8)
    package static let syncRuns = Array("s".utf8)
    package static let watermarks = Array("w".utf8)
    package static let withheld = Array("H".utf8)
    package static let grants = Array("G".utf8)
    package static let store = Array("x".utf8)
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
