// SyncMachine+Push.swift — what a sync run sends next, and what follows from the answers.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// The next step of a round; nil when the round is over.
    mutating func nextPush() -> SyncAction? {
        guard planner != nil else { return flight.isEmpty ? look(.outbox(nil)) : nil }
        // What was read is sent before anything else is looked at.
        if trial.isReadNext {
            trial.isReadNext = false
        } else if let candidate = takeWaiting() {
            planner?.putFirst(candidate)
        }
        guard flight.hasRoom else { return nil }
        let count = sendsAlone ? 1 : min(model.settings.batchSize, traits.writesPerRequestMax)
        while let next = planner?.next(upTo: count) {
            guard case .look(let candidate) = next else { return carryOut(next) }
            // A write that is held back need not be read.
            guard isHeldBack(candidate.key) || waitsForFailed(candidate) else {
                return flight.mayTake(candidate.key) ? carryOut(next) : nil
            }
            holdOthers(for: candidate)
            noteAwaited(candidate.key.collection)
            planner?.pass()
        }
        guard flight.isEmpty else { return nil }
        // A push may have released writes that waited for it, or an edit came in between.
        let isOver = planner?.hasPlanned == false
        planner = nil
        guard isOver else { return nil }
        if !refusedInTrees.isEmpty {
            defer { refusedInTrees = [] }
            return look(.foldersAround(refusedInTrees, atMost: .max))
        }
        if let action = nextIDs() { return action }
        guard asked.isEmpty else { return nil }
        // What was promised may release more.
        guard ownTickets.isEmpty else { return look(.tickets) }
        state = .refilling
        return nil
    }

    /// Plans the pending write of the next entity.
    mutating func take(_ pending: PendingWrite?, _ key: EntityKey) -> SyncAction? {
        var standing = standing(of: key)
        let wasRead = trial.read == key
        trial.read = nil
        standing.isReadFirst = pending.map { readsFirst($0, wasRead: wasRead) } ?? false
        var pending = pending
        if let deletion = pending, isUnlisted(deletion) {
            if mayList(deletion) {
                standing.isUnlisted = true
            } else if let path = deletions.unshown(in: key) {
                pending?.unshown = path
            } else {
                // What lies in it could not be told in this run.
                failedNow.insert(key)
                planner?.pass()
                return nil
            }
        }
        guard let next = planner?.take(pending, standing) else { return nil }
        if case .list = next, mayCarryOut(next), let pending {
            list(beforeDeleting: pending)
            return nil
        }
        let isAsked = if case .ask = next { mayCarryOut(next) } else { false }
        let action = carryOut(next)
        if isAsked, pending?.revision != nil { pause = Self.weakFor }
        return action
    }

    /// For how many seconds after a change servers tell a weak version of a file, in the place of
    /// the strong one that follows.
    private static let weakFor: Int64 = 2

    private mutating func carryOut(_ next: PushPlanner.Next) -> SyncAction {
        if isLeft(next), case .send(let items) = next {
            room.leave(items)
            return self.next()
        }
        if waitForDeletions(next) {
            planAnew()
            return look(.tickets)
        }
        guard mayCarryOut(next) else {
            // Several in one request are planned once more when all is answered.
            let isOfMany = if case .send(let items) = next { items.count > 1 } else { false }
            if isOfMany { planAnew() } else { flight.wait(isUpload: next.isUpload) }
            return self.next()
        }
        switch next {
        case .look(let candidate):
            flight.looked = candidate
            let isRetried = remedies.retried.contains(candidate.key)
            return look(.pending(candidate, isRetried: isRetried))
        case .more: return look(.outbox(planner?.rest))
        case .send(let items): return perform(.push(items))
        case .ask(let key, let call):
            conflicts[key, default: 0] += 1
            return perform(.readBack(key, call, attempt: nil))
        case .readFirst(let candidate, let call):
            (trial.read, trial.isReadNext) = (candidate.key, true)
            planner?.putFirst(candidate)
            return perform(.readBack(candidate.key, call, attempt: nil))
        case .list: trap("sends nothing")
        }
    }

    /// Whether an entity's writes are held back in this run.
    private func isHeldBack(_ key: EntityKey) -> Bool {
        isBlocked(key.collection) || !isDue(key, .write) || room.left.contains(key)
            || isStuck(key, .write)
            || conflicts[key, default: 0] >= Self.conflictsPerEntityMax
    }

    /// What this run knows of an entity that has something to send.
    private func standing(of key: EntityKey) -> PushPlanner.Standing {
        var standing = PushPlanner.Standing()
        standing.conflicts = conflicts[key, default: 0]
        standing.isAlone = hasFailed(key) || lostPromises.contains(key)
        if let met = conflicting[key] { (standing.met, standing.metCount) = met }
        return standing
    }

    // MARK: What came of it

    /// Nothing was sent: an edit came in between, or the wait was so long that the next step is
    /// decided again.
    package mutating func overtaken() -> SyncAction {
        guard case .result(.push(let items)) = awaited else { trap("was overtaken in no push") }
        // Another round looks at it again.
        if !mayFly(items) { planAnew() }
        return decide()
    }

    /// Has everything that was not sent planned once more.
    mutating func planAnew() {
        planner = nil
        flight.forgetWaiting()
    }

    /// A write was refused without being sent; the others of its request go on.
    package mutating func refused(_ item: PushItem) {
        guard case .result(.push(let items)) = awaited else { trap("refused nothing of a push") }
        awaited = .result(.push(items.filter { $0.key != item.key }))
        noteRefusal(of: item.key)
    }

    /// A write that was refused in an earlier run is still refused without being sent: it waits for
    /// the next run, without a word.
    package mutating func passed(_ item: PushItem) {
        guard case .result(.push(let items)) = awaited else { trap("passed nothing of a push") }
        awaited = .result(.push(items.filter { $0.key != item.key }))
        failedNow.insert(item.key)
    }

    /// Counts a refusal; where what was refused is sent again, that is in the next run.
    private mutating func noteRefusal(of key: EntityKey) {
        outcome.counts.rejected += 1
        if model[key.collection]?.retriesRefused == true { failedNow.insert(key) }
    }

    /// All writes of a request were refused without being sent.
    package mutating func sentNothing() -> SyncAction {
        guard case .result(.push) = awaited else { trap("sent nothing in no push") }
        return decide()
    }

    /// Counts the outcome of one write.
    mutating func pushed(_ item: PushItem, _ answer: ServerAnswer) {
        remedies.retried.remove(item.key)
        if item.call.file != nil { trial.hasUploaded = true }
        switch (item.call, answer) {
        // A part of a batch whose request was answered.
        case (_, .failure(let failure)) where failure.stopsRun: outcome.failure = failure
        case (_, .failure):
            failedNow.insert(item.key)
            noteFailedDeletions([item])
        case (.delete, .absent):
            outcome.counts.pushed += 1
            noteRoom(item)
        case (_, .conflictUnknown):
            asked.append(item.key)
            met(item)
        case (_, .conflict), (_, .absent): met(item)
        case (_, .refused):
            noteRefusal(of: item.key)
            note(untaken: item, answer)
            if model[item.key.collection]?.isByPath == true { refusedInTrees.append(item.key) }
        case (_, .ignored):
            failedNow.insert(item.key)
            note(untaken: item, answer)
            // It may be gone, or somewhere else: nothing else would come back to it.
            if item.call.isDeletion, model[item.key.collection]?.isByPath == true {
                refusedInTrees.append(item.key)
                missesDeleted = true
            }
        case (_, .deferred): break
        case (_, .record), (_, .stored), (_, .deleted):
            outcome.counts.pushed += 1
            noteRoom(item)
            if item.call.file != nil, case .stored(_, nil, _) = answer {
                // By which version the server has it from now on.
                asked.append(item.key)
            } else if item.call.makesWithID {
                made.append(item.key)
            }
        case (_, .description), (_, .page), (_, .combined), (_, .unchanged), (_, .cursorExpired),
            (_, .records), (_, .batch), (_, .waiting), (_, .reserved):
            trap("is told \(Self.caseName(answer)) of a write")
        }
    }

    /// Counts a write whose precondition failed.
    private mutating func met(_ item: PushItem) {
        let before = conflicting[item.key].flatMap { $0.call == item.call ? $0.count : nil } ?? 0
        conflicting[item.key] = (item.call, before + 1)
        conflicts[item.key, default: 0] += 1
        outcome.counts.conflicts += 1
    }
}
