// ChaosOracle.swift — whether what a replica says of its mutations is what the server's history
// says.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport

/// Follows one replica's log, and holds it against the server's history.
struct ChaosOracle {
    let user: String
    private var read = Position.start
    /// The writes that were sent, by entity, until one is found to have taken effect.
    private var attempts: [EntityKey: [Attempt]] = [:]
    /// The request that made a version, where its answer came.
    private var makers: [String: Position] = [:]
    /// The mutations that a version of this user's carries.
    private var carried: [String: Set<Position>] = [:]
    /// All mutations that some version carries.
    private var effective: Set<Position> = []
    /// The last write of each entity, while nothing says what became of it.
    private var open: [EntityKey: Attempt] = [:]
    /// Mutations whose outcome was held against the history.
    private var judged = Position.start
    var tally = ChaosTally()
    /// What is wrong.
    private(set) var findings: [String] = []
    private var suspects: Set<EntityKey> = []

    /// One write, as the log has it.
    private struct Attempt {
        var call: Position
        var covers: [Position]
        var isDeletion: Bool
        var precondition: String
        var document: JSONDocument?
    }

    init(user: String) { self.user = user }

    /// Judges everything that is new in the log and in the history.
    mutating func judge(
        _ journal: Journal, _ history: ChaosHistory, new versions: [ChaosVersion]
    ) throws {
        (findings, suspects) = ([], [])
        try readLog(journal)
        for version in versions where version.user == user { account(for: version) }
        try journal.read { views in
            var rows: [(Position, MutationRow)] = []
            try views.forEachMutation { position, row in
                if position > judged { rows.append((position, row)) }
                return true
            }
            let mutations = try rows.map { position, row in
                Mutation(position: position, row: row, event: try views.event(at: position))
            }
            for mutation in mutations {
                let proof = try mutation.row.proof.flatMap { try views.event(at: $0) }
                let later = mutations.filter {
                    $0.row.key == mutation.row.key && $0.position > mutation.position
                        && $0.row.proof == mutation.row.proof
                }
                // What a later edit took away may have been found so before the rest was sent.
                let before = mutations.filter {
                    $0.row.key == mutation.row.key && $0.position > mutation.position
                        && !$0.isDeletion && [.accepted, .merged].contains($0.row.outcome)
                        && ($0.row.proof ?? .start) < (mutation.row.proof ?? .start)
                }
                // One that gave way to it may be set again by what is sent after that.
                let again = mutations.filter {
                    $0.row.key == mutation.row.key && $0.position > mutation.position
                        && !mutation.patch.isEmpty
                        && Set($0.patch.fieldNames).isSuperset(of: mutation.patch.fieldNames)
                }
                judge(mutation, proof, later, before, again, history)
            }
            judged = rows.last?.0 ?? judged
        }
    }

    private mutating func wrong(_ mutation: Mutation, _ what: String) {
        let row = mutation.row
        suspects.insert(row.key)
        let proof = row.proof.map { "\($0)" } ?? "nothing"
        findings.append(
            "\(user) \(mutation.position) \(row.kind) \(row.key) "
                + "\(row.outcome?.rawValue ?? "open") by \(proof): \(what)")
    }

    /// The last events of the entities about which something is wrong, a line each.
    func story(_ journal: Journal) throws -> String {
        var lines = ""
        for key in suspects.sorted() {
            var filter = EventFilter()
            (filter.collection, filter.entity) = (key.collection, key.id)
            var events: [String] = []
            _ = try journal.dump(filter, limit: 40, reversed: true) { position, event in
                events.append(String(decoding: EventLine.json(position, event), as: UTF8.self))
            }
            lines += "\n" + events.reversed().joined(separator: "\n")
        }
        return lines
    }

    // MARK: The log

    private mutating func readLog(_ journal: Journal) throws {
        var filter = EventFilter()
        filter.from = read.next
        var events: [(Position, Event)] = []
        let damaged = try journal.dump(filter) { events.append(($0, $1)) }
        findings += damaged.map { "\(user): \($0)" }
        for (position, event) in events {
            tally.note(event, at: position)
            noteAnswer(event)
            guard event.kind == .requestSent, event.mutation != nil, let key = event.key else {
                continue
            }
            let payload = try JSONValue(parsing: event.payload)
            let covers = payload["covers"]?.array?.compactMap(\.int64Value) ?? []
            let attempt = Attempt(
                call: position, covers: covers.map { Position(UInt64($0)) },
                isDeletion: payload["method"] == "DELETE",
                precondition: payload["If-Match"]?.stringValue ?? payload["If-None-Match"]?
                    .stringValue ?? "none",
                document: try Self.document(payload))
            if let before = open[key], !Set(before.covers).isDisjoint(with: attempt.covers) {
                findings.append(
                    "\(user) \(position): \(key) is sent again before anybody asked what became of "
                        + "\(before.call)")
            }
            open[key] = attempt
            attempts[key, default: []].append(attempt)
        }
        read = events.last?.0 ?? read
    }

    /// The document that a request carries.
    private static func document(_ payload: JSONValue) throws -> JSONDocument? {
        if let item = payload["bodyText"]?.stringValue { return .item(item) }
        return try (payload["body"]?["data"]?.encoded()).map { try JSONDocument(parsing: $0) }
    }

    /// Takes note of what tells what became of a write: its own answer, or a read-back.
    private mutating func noteAnswer(_ event: Event) {
        if event.kind == .pushAccepted, let key = event.key, let revision = event.revision {
            makers["\(key) \(revision)"] = event.call
        }
        if event.kind == .pullCompleted, let asOf = event.asOf {
            // A list that was asked for later says how everything stands.
            open = open.filter { $0.key.collection != event.collection || $0.value.call > asOf }
        }
        guard let key = event.key, let attempt = open[key] else { return }
        switch event.kind {
        case .requestAnswered where event.call == attempt.call:
            let status = RequestAnswered(stored: event.payload).status
            if status < 500 || status == 503 { open[key] = nil }
        case .requestAnswered where event.cause == attempt.call: open[key] = nil
        case .requestFailed where event.call == attempt.call:
            if RequestFailed(stored: event.payload).neverArrived { open[key] = nil }
        default: break
        }
    }

    /// Finds the one attempt that a version on the server comes from.
    private mutating func account(for version: ChaosVersion) {
        // Some servers' versions have quotes of their own.
        let preconditions = version.before.map { [$0, "\"\($0)\""] } ?? ["*"]
        let candidates = attempts[version.key]?.indices.filter { index in
            guard let attempt = attempts[version.key]?[index] else { return false }
            return preconditions.contains(attempt.precondition)
                && attempt.isDeletion == version.isDeletion
                && attempt.document.map { version.isMade(of: $0) } ?? version.isDeletion
        }
        let maker = makers["\(version.key) \(version.revision)"]
        let index =
            candidates?.first { attempts[version.key]?[$0].call == maker } ?? candidates?.first
        guard let index, let attempt = attempts[version.key]?.remove(at: index) else {
            findings.append(
                "\(user): nothing in the log accounts for \(version.key) \(version.revision) "
                    + "on the server, \(version.document)")
            return
        }
        // It was known not to have arrived, and did so all the same.
        if attempt.covers.contains(where: { effective.contains($0) || $0 <= judged }) {
            tally.late += 1
        }
        carried["\(version.key) \(version.revision)", default: []].formUnion(attempt.covers)
        effective.formUnion(attempt.covers)
    }

    /// Whether a version is the very write of a mutation.
    private func isWrite(_ version: ChaosVersion?, of mutation: Mutation) -> Bool {
        guard let version else { return false }
        return carried["\(version.key) \(version.revision)"]?.contains(mutation.position) ?? false
    }

    // MARK: Outcomes

    private struct Mutation {
        var position: Position
        var row: MutationRow
        var event: Event?

        /// The fields that it sets, and those that it takes away; empty for a deletion.
        var patch: Patch {
            guard let event, let document = try? JSONDocument(parsing: event.payload) else {
                return Patch()
            }
            switch row.kind {
            case .localCreated:
                return Patch(settingAllOf: document, except: ChaosVersion.serverFields)
            case .localUpdated: return (try? Patch(parsing: event.payload)) ?? Patch()
            default: return Patch()
            }
        }
        var isDeletion: Bool { row.kind == .localDeleted }
    }

    private mutating func judge(
        _ mutation: Mutation, _ proof: Event?, _ later: [Mutation], _ before: [Mutation],
        _ again: [Mutation], _ history: ChaosHistory
    ) {
        let row = mutation.row
        guard let outcome = row.outcome else { return wrong(mutation, "it has no outcome") }
        tally.note(outcome)
        guard let proof, let place = row.proof, place >= mutation.position else {
            return wrong(mutation, "no event proves it")
        }
        let version = row.revision.flatMap { history.version(row.key, $0, by: user) }
        if let revision = row.revision, version == nil {
            return wrong(mutation, "the server never had version \(revision)")
        }
        switch outcome {
        case .accepted, .merged:
            if proof.kind == .pushAccepted, row.revision != nil {
                if version?.user != user {
                    wrong(mutation, "that version is \(version?.user ?? "nobody")'s")
                }
                if !effective.contains(mutation.position) {
                    wrong(mutation, "the server never took it")
                }
            }
            if outcome == .merged, isWrite(version, of: mutation) {
                wrong(mutation, "nobody else made that version")
            }
            if mutation.isDeletion {
                judgeDeletion(mutation, version, later, history)
            } else {
                judgeFields(mutation, version, later + before)
            }
        case .superseded:
            if history.versions[row.key] == nil { wrong(mutation, "the server has no rival") }
            if isWrite(version, of: mutation) { wrong(mutation, "the rival is its own write") }
            if row.key.collection == "tasks" { wrong(mutation, "here the local side wins") }
        case .coalesced:
            if later.isEmpty, again.isEmpty { wrong(mutation, "no later one went with it") }
        case .annihilated:
            let isDeleted = mutation.isDeletion || later.contains { $0.isDeletion }
            if !isDeleted { wrong(mutation, "no deletion went with it") }
            // A request that was on its way for longer than anybody asked for may still arrive.
            if effective.contains(mutation.position), !proof.saysItIsGone {
                wrong(mutation, "the server took it")
            }
        case .rejected, .withdrawn, .discarded: wrong(mutation, "nobody refuses anything here")
        }
    }

    private mutating func judgeDeletion(
        _ mutation: Mutation, _ version: ChaosVersion?, _ later: [Mutation],
        _ history: ChaosHistory
    ) {
        // What was made anew with the same write replaced it.
        if let version, version.isDeletion || later.contains(where: { !$0.isDeletion }) { return }
        if version == nil, history.wasDeleted(mutation.row.key) { return }
        wrong(mutation, "the server never deleted it")
    }

    private mutating func judgeFields(
        _ mutation: Mutation, _ version: ChaosVersion?, _ later: [Mutation]
    ) {
        guard let version else { return wrong(mutation, "no version of the server is named") }
        let overtaken = Set(later.flatMap(\.patch.fieldNames))
        let isDeleted = later.contains { $0.isDeletion }
        guard !isDeleted else { return }
        guard !version.isDeletion else { return wrong(mutation, "that version is a deletion") }
        let patch = mutation.patch
        for field in patch.fieldNames where !overtaken.contains(field) {
            let value = patch.value(of: field).flatMap { try? JSONValue(parsing: $0) }
            if version.document.value(field) != value {
                wrong(
                    mutation,
                    "\(field) is \(value.map { "\($0)" } ?? "unset"), but in version "
                        + "\(version.revision) of \(version.user): "
                        + String(decoding: version.document.bytes, as: UTF8.self))
            }
        }
    }
}

extension Event {
    /// Whether the server was asked what became of a write, and did not have the entity.
    fileprivate var saysItIsGone: Bool {
        kind == .requestAnswered && cause != nil
            && RequestAnswered(stored: payload).status == 404
    }
}
