// Monitored.swift — a value that threads of a test can wait for.

import Foundation

/// A value behind a condition.
final class Monitored<Value>: @unchecked Sendable {
    // @unchecked because: `value` is touched only while `condition` is locked.
    private let condition = NSCondition()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func update<R>(_ body: (inout Value) -> R) -> R {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return body(&value)
    }

    func set(_ new: Value) { update { $0 = new } }

    func wait(until holds: (Value) -> Bool) {
        condition.lock()
        while !holds(value) { condition.wait() }
        condition.unlock()
    }
}

/// Runs `body` on a thread of its own; an error ends the test process.
func onNewThread(_ body: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread {
        do { try body() } catch { fatalError("a test's thread failed: \(error)") }
    }
}
