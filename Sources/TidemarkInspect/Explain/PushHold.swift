// PushHold.swift — why an entity's mutations are not sent, and the outcome of their last attempt.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// Why what is pending on an entity is not sent automatically.
package enum PushHold: Sendable, Hashable {
    /// The server refused it, or it was refused without being sent.
    case refused(Position, status: UInt32, message: String)
    /// The server refused it, and it is sent again with the next run.
    case refusedBefore(Position, status: UInt32, message: String)
    /// Both sides changed it, and a person is asked.
    case asked(Position)
    /// It was sent, and the outcome is not known.
    case unanswered(Position)
    /// It was sent, and the server promised an answer, which is asked for by its ticket.
    case promised(Position, ticket: String)
    /// Calls about it fail by themselves, and are repeated automatically.
    case failing(FailingRow)
    /// The entity is hidden, because access to it was lost.
    case outOfReach
    /// The entity is a placeholder, and the server has not sent it yet.
    case standIn
    /// The model no longer has its collection.
    case noCollection(CollectionName)
    /// It refers to an entity that the server does not have.
    case reference(EntityKey, Obstacle)
    /// It comes after what is pending on another entity in the same place of a tree.
    case place(EntityKey, Obstacle)
    /// It would lie in an entity of its tree that is not there.
    case nowhere(EntityKey)
    /// It names a file of the user's, which is sent first.
    case file(UnsentFile)
    /// It names a file of the user's, which is sent below the entity once the server has that.
    case fileBelow(field: String, digest: String)
    /// It is an action that waits for what counts in the entity; stuck where something of that was
    /// refused or has a warning.
    case tree(String, isStuck: Bool)

    /// Why the server does not have the other entity.
    package enum Obstacle: Sendable, Hashable {
        /// It was created by this mutation, and is sent first in the same run.
        case goesFirst(Position)
        case refused(Position, status: UInt32, message: String)
        case outOfReach
        /// It waits itself, in the end for this entity's mutation.
        case waits(EntityKey, Position)
    }
}

extension ViewReader {
    /// The reasons why the pending mutations of an entity are not sent; of one on which nothing is
    /// pending, what is still asked of the server.
    package func holds(
        of key: EntityKey, _ row: EntityRow, _ model: SyncModel
    ) throws -> [PushHold] {
        var asked: [PushHold] = []
        if let call = row.attempt?.call {
            let ticket = try tickets().first { !$0.isLost && $0.calls.contains(call.rawValue) }
            asked.append(
                ticket.map { PushHold.promised(call, ticket: $0.ticket) } ?? .unanswered(call))
        }
        if let failing = try failing(key) { asked.append(.failing(failing)) }
        guard !row.pending.isEmpty else { return asked }
        var holds: [PushHold] = []
        if row.status == .error, let refusal = row.refusal {
            let (position, status) = (refusal.position, refusal.status)
            // What was refused unsent is not sent: no answer of the server has a status of 0.
            let isRetried = model[key.collection]?.retriesRefused == true && status != 0
            holds.append(
                refusal.isAsked
                    ? .asked(position)
                    : isRetried
                        ? .refusedBefore(position, status: status, message: refusal.message)
                        : .refused(position, status: status, message: refusal.message))
        }
        holds += asked
        if model[key.collection] == nil { holds.append(.noCollection(key.collection)) }
        if row.isHidden { holds.append(.outOfReach) }
        if row.isPlaceholder { holds.append(.standIn) }
        if let action = row.nextAction, let collection = model[key.collection],
            try waitsForTree(action, of: key, collection)
        {
            let stuck: RollUpClasses = [RollUpClasses(.error), RollUpClasses(.warning)]
            let isStuck = try rollUp(key).map { !$0.belowClasses.isDisjoint(with: stuck) } ?? false
            holds.append(.tree(action.action, isStuck: isStuck))
        }
        let missing = try missingReferences(of: key, row, model)
        for target in missing {
            holds.append(.reference(target, try obstacle(target, model)))
        }
        if let above = try treeHolders(model).missing(for: key) { holds.append(.nowhere(above)) }
        for other in try treeHolders(of: row, model) where !missing.contains(other) {
            holds.append(.place(other, try obstacle(other, model)))
        }
        if let collection = model[key.collection] {
            holds += try unsentFiles(of: key, row, collection).filter(\.isWaiting)
                .map { .file($0) }
        }
        return holds
    }

    private func obstacle(_ key: EntityKey, _ model: SyncModel) throws -> PushHold.Obstacle {
        let row = try entity(key) ?? EntityRow()
        let isRetried = model[key.collection]?.retriesRefused == true
        if row.status == .error, !isRetried, let refusal = row.refusal {
            return .refused(refusal.position, status: refusal.status, message: refusal.message)
        }
        if row.isHidden { return .outOfReach }
        if let other = try blockers(of: key, row, model).first {
            let position = try entity(other)?.lastChange ?? .start
            return .waits(other, position)
        }
        return .goesFirst(row.pending.first?.position ?? .start)
    }

    /// The answer to a request, or the event that none came; nil where the log has neither.
    ///
    /// The search begins at the request and ends with its run. Where that is the one that was
    /// refused, the last answer before the refusal counts, which may have been promised in its run
    /// and come with a later one.
    ///
    /// - Parameter refusal: the event that refused what is pending on the entity; nil for none.
    package func answer(
        to call: Position, refusal: Position? = nil
    ) throws -> (position: Position, event: Event)? {
        if let refusal, let rejected = try event(at: refusal), rejected.kind == .pushRejected,
            rejected.call == call, let answer = try lastAnswer(to: call, before: refusal)
        {
            return answer
        }
        let run = try event(at: call)?.sync
        let finished = try run.flatMap { try get(.syncRun($0)) }
            .flatMap { try SyncRunRow(parsing: $0).finished }
        let (farthest, isBeyond) = call.rawValue.addingReportingOverflow(100_000)
        let last = min(finished ?? self.last, Position(isBeyond ? .max : farthest), self.last)
        var position = call.next
        while position <= last {
            if let event = try event(at: position), event.call == call,
                event.kind == .requestAnswered || event.kind == .requestFailed
            {
                return (position, event)
            }
            position = position.next
        }
        return nil
    }

    private func lastAnswer(
        to call: Position, before last: Position
    ) throws -> (position: Position, event: Event)? {
        var position = last
        for _ in 0..<100_000 where position > call.next {
            position = Position(position.rawValue - 1)
            if let event = try event(at: position), event.call == call,
                event.kind == .requestAnswered || event.kind == .requestFailed
            {
                return (position, event)
            }
        }
        return nil
    }
}

extension UnsentFile {
    /// When it is sent, and what came of that so far.
    fileprivate var sending: String {
        switch standing {
        case .waits(failures: 1): "sent first and failed once"
        case .waits(let failures) where failures > 1:
            "sent first and failed \(failures) times"
        case .waits, .missing, .refused: "sent first"
        }
    }
}

extension PushHold {
    /// The reason, for people.
    package var words: String {
        switch self {
        case .refused(let position, let status, let message),
            .refusedBefore(let position, let status, let message):
            "\(Self.refusal(status, message)) (\(position))"
        case .asked(let position):
            "both sides changed it; it waits for an answer to the issue \(position)"
        case .unanswered(let call): "sent at \(call), and what became of it is not known"
        case .promised(let call, let ticket):
            "sent at \(call); the server answers later: \(EventText.printable(ticket))"
        case .failing(let failing):
            "\(failing.sentence); again from \(failing.gate.due.toTheSecond) on"
        case .outOfReach: "out of reach: nothing is sent for it"
        case .standIn: "a stand-in: the server has not said the entity yet"
        case .noCollection(let name):
            "the model has no collection \(name): open the store with one that has it, or discard "
                + "the edit"
        case .reference(let key, .goesFirst(let position)):
            "refers to \(key), made here at \(position), which goes first"
        case .reference(let key, .refused(let position, let status, let message)):
            "refers to \(key): \(Self.refusal(status, message)) (\(position))"
        case .reference(let key, .outOfReach): "refers to \(key), which is out of reach"
        case .reference(let key, .waits(let other, let position)):
            "refers to \(key), which waits for \(other) (\(position))"
        case .place(let key, .goesFirst(let position)):
            "comes after what was done before in the same place, to \(key) (\(position))"
        case .place(let key, .refused(let position, let status, let message)):
            "comes after what was done before in the same place, to \(key): "
                + "\(Self.refusal(status, message)) (\(position))"
        case .place(let key, .outOfReach):
            "comes after what was done before in the same place, to \(key), which is out of reach"
        case .place(let key, .waits(let other, let position)):
            "comes after what was done before in the same place, to \(key), which waits for "
                + "\(other) (\(position))"
        case .nowhere(let key):
            "would lie in \(key), which is not there, or not any more: move it, or discard the edit"
        case .file(let file):
            "\(EventText.printable(file.field)) names a file that is \(file.sending): "
                + EventText.printable(file.digest)
        case .fileBelow(let field, let digest):
            "\(EventText.printable(field)) names a file that is sent below the entity, once the "
                + "server has that: \(EventText.printable(digest))"
        case .tree(let action, _):
            "\(EventText.printable(action)) waits until nothing in its tree waits, was refused or "
                + "has a warning"
        }
    }

    private static func refusal(_ status: UInt32, _ message: String) -> String {
        EventText.printable(PushRejected(status: status, message: message).words)
    }

    /// Whether it is for a file that is sent below the entity.
    var isOfFileBelow: Bool { if case .fileBelow = self { true } else { false } }

    /// Whether it lasts until the user or the app does something about this entity or another one.
    var isLasting: Bool {
        switch self {
        case .refused, .asked, .outOfReach, .noCollection: true
        case .tree(_, let isStuck): isStuck
        case .refusedBefore, .unanswered, .promised, .failing, .standIn, .reference(_, .goesFirst),
            .place(_, .goesFirst), .file, .fileBelow:
            false
        case .reference, .place, .nowhere: true
        }
    }

    /// One word, for programs.
    var name: String {
        switch self {
        case .refused, .refusedBefore: "refused"
        case .asked: "asked"
        case .unanswered: "unanswered"
        case .promised: "promised"
        case .failing: "failing"
        case .outOfReach: "outOfReach"
        case .standIn: "standIn"
        case .noCollection: "noCollection"
        case .reference(_, .goesFirst): "goesFirst"
        case .reference(_, .refused): "referenceRefused"
        case .reference(_, .outOfReach): "referenceOutOfReach"
        case .reference(_, .waits): "referenceWaits"
        case .place(_, .goesFirst): "goesAfter"
        case .place(_, .refused): "goesAfterRefused"
        case .place(_, .outOfReach): "goesAfterOutOfReach"
        case .place(_, .waits): "goesAfterWaiting"
        case .nowhere: "liesNowhere"
        case .file, .fileBelow: "goesAfterFile"
        case .tree: "goesAfterTree"
        }
    }

    package var json: JSONValue {
        var object: JSONObject = ["reason": .string(name)]
        var place: Position?
        var words = ""
        switch self {
        case .refused(let position, _, let message),
            .refusedBefore(let position, _, let message):
            (place, words) = (position, message)
        case .asked(let position): place = position
        case .unanswered(let call): place = call
        case .promised(let call, let ticket): (place, words) = (call, ticket)
        case .failing(let failing): (place, words) = (failing.gate.position, failing.sentence)
        case .outOfReach, .standIn, .noCollection, .tree: break
        case .file(let file):
            (object["field"], object["sha256"]) = (.string(file.field), .string(file.digest))
        case .fileBelow(let field, let digest):
            (object["field"], object["sha256"]) = (.string(field), .string(digest))
        case .nowhere(let key): object["entity"] = .string("\(key)")
        case .reference(let key, let obstacle), .place(let key, let obstacle):
            object["entity"] = .string("\(key)")
            switch obstacle {
            case .goesFirst(let position): place = position
            case .refused(let position, _, let message): (place, words) = (position, message)
            case .outOfReach: break
            case .waits(let other, let position):
                object["waitsFor"] = .string("\(other)")
                place = position
            }
        }
        object["position"] = place.map { .number(JSONNumber($0.rawValue)) }
        if !words.isEmpty { object["message"] = .string(words) }
        return .object(object)
    }
}

extension SyncGate {
    /// Until when it holds, by the device's clock.
    var due: Timestamp { since.now.adding(seconds: microseconds / 1_000_000) }
}
