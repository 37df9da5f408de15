// Following.swift — a task that ends when its owner lets go of it.

/// A task that is cancelled when this object is released.
final class Following: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }
}
