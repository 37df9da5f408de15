// Journal+Sealing.swift — sealing old events, when nobody waits for a commit.
//
// In one transaction some blocks are made of the log's first events. An event that a row names
// stays in the log's own table as well, so that what is read often is not to be decompressed, until
// a commit has the row name another one. A row that is missed is still read, only slower.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore

/// Which events are sealed, and when.
package enum SealingRule {
    /// How many events at the end of a log stay as they are.
    package static let eventsKept: UInt64 = 4_096
    /// How many more there have to be before some are sealed without being asked to.
    static let eventsDue: UInt64 = 4_096
    /// How many blocks are made in one transaction.
    static let blocksPerTransaction = 16
}

extension Journal {
    /// Does what is best done when nobody waits: removes files beside entities that need not be
    /// kept, seals old events, takes a snapshot of the views when one is due, and drops the events
    /// that the model does not want to be kept; fails silently, as it can be done later.
    ///
    /// Costs a look at the last position, and at the model, when nothing is due. Not to be called
    /// inside a read or a write.
    ///
    /// - Parameter now: what an event that tells of it is recorded at.
    package func keepTidy(at now: Timestamp) {
        if (try? isSweepDue(at: now)) == true { _ = try? sweepContents(at: now) }
        sealOldEvents()
        keepSnapshots()
        truncateByModel(at: now)
    }

    /// The same on a thread of its own; nobody waits for it but who closes the store.
    ///
    /// Nothing while the one before goes on: what is due then is so the next time.
    package func keepTidyLater(at now: Timestamp) {
        func isIdle(_ work: Background<Void>?) -> Bool { work?.isDone ?? true }
        guard tidying.withLock({ isIdle($0) }) else { return }
        let isDue = try? isSealingDue() || isSnapshotDue() || mayTruncate() || isSweepDue(at: now)
        guard isDue == true else { return }
        tidying.withLock { work in
            guard isIdle(work) else { return }
            work = Background { self.keepTidy(at: now) }
        }
    }

    /// Waits for what ``keepTidyLater(at:)`` began.
    func waitUntilTidy() {
        let work = tidying.withLock { tidying in
            defer { tidying = nil }
            return tidying
        }
        work?.value
    }

    private func isSealingDue() throws -> Bool {
        guard guardian != nil else { return false }
        return try environment.read { transaction in
            let (last, sealed) = try (
                log.lastPosition(transaction), log.sealed.last(transaction)
            )
            return last.rawValue - sealed.rawValue
                >= SealingRule.eventsKept + SealingRule.eventsDue
        }
    }

    private func sealOldEvents() {
        guard (try? isSealingDue()) == true, shared.beginSealing() else { return }
        defer { shared.endSealing() }
        _ = try? seal()
    }

    /// Seals all events but the last ones.
    ///
    /// - Parameters:
    ///   - kept: how many events at the end stay as they are, at least one.
    ///   - progress: told after each transaction which event is the last that is sealed, and which
    ///     will be; what it throws ends the sealing there.
    /// - Returns: what was sealed; nil where nothing was left to be.
    /// - Throws: ``LogError`` where an event is damaged; what is before it is sealed.
    @discardableResult
    package func seal(
        keeping kept: UInt64 = SealingRule.eventsKept,
        progress: (_ done: Position, _ of: Position) throws -> Void = { _, _ in }
    ) throws -> Sealing? {
        var whole: Sealing?
        let end = try environment.read { try log.lastPosition($0) }
        let last = Position(end.rawValue - min(end.rawValue, max(kept, 1)))
        while let some = try sealSome(through: last) {
            if whole == nil { whole = some } else { whole?.add(some) }
            try progress(some.last, last)
        }
        return whole
    }

    /// Seals some events in one transaction.
    private func sealSome(through last: Position) throws -> Sealing? {
        try environment.write { transaction in
            guard try !self.log.isPart(transaction),
                let state = try self.views.state(transaction), state.isCurrent
            else { return nil }
            var some: Sealing?
            for _ in 0..<SealingRule.blocksPerTransaction {
                let block = try self.log.seal(through: last, transaction) { entities, last in
                    try self.views.named(by: entities, through: last, state.generation, transaction)
                }
                guard let block else { break }
                if some == nil { some = block } else { some?.add(block) }
            }
            return some
        }
    }
}
