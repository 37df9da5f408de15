// SyncMachine+Room.swift — uploads for which a server has no room.
//
//   three in a row    no other one begins: what needs no room is sent, like a deletion
//   a deletion        one is tried again, and where there is room all of them
//   the run's end     it failed where any are left: the next one waits longer each time

import TidemarkEvents

/// What a run knows of the room that the server has for files.
struct ServerRoom: Sendable {
    /// How many uploads in a row it may have no room for.
    private static let refusalsMax = 3

    private var refusals = 0
    /// The entities whose uploads were left since.
    private(set) var left: Set<EntityKey> = []

    /// Whether no other upload begins.
    var isUsedUp: Bool { refusals >= Self.refusalsMax }

    /// It had no room for one.
    mutating func refused() { refusals += 1 }

    /// Leaves uploads until there is room.
    mutating func leave(_ items: [PushItem]) { left.formUnion(items.map(\.key)) }

    /// It took a file.
    mutating func took() { (refusals, left) = (0, []) }

    /// Something was deleted: there may be room.
    mutating func freed() { (refusals, left) = (min(refusals, Self.refusalsMax - 1), []) }
}

extension SyncMachine {
    /// Whether the next step is an upload that is left, as the server has no room.
    func isLeft(_ next: PushPlanner.Next) -> Bool {
        guard room.isUsedUp, case .send(let items) = next else { return false }
        return items.contains { $0.call.file != nil && $0.refusal == nil }
    }

    /// Whether an upload failed as the server has no room for it.
    func lacksRoom(_ step: SyncStep, _ failure: SyncFailure) -> Bool {
        guard case .push(let items) = step, case .server(507, _) = failure else { return false }
        return items.contains { $0.call.file != nil }
    }

    /// Says why uploads are left, once all else is done.
    mutating func endWithoutRoom() {
        guard outcome.failure == nil, !room.left.isEmpty else { return }
        outcome.failure = .server(status: 507, retryAfterSeconds: nil)
    }

    /// Notes that a write was taken that may say of the server's room, or make some.
    mutating func noteRoom(_ item: PushItem) {
        if item.call.isDeletion {
            room.freed()
        } else if item.call.file != nil {
            room.took()
        }
    }
}
