// Journal+Contents.swift — the files of a store and its log: what the log says comes first where a
// file goes, and last where one comes.

package import TidemarkEvents
import TidemarkLog
package import TidemarkStore

/// What a sweep, or an opening, removed.
package struct RemovedContents: Sendable, Hashable {
    /// Files that the log had named.
    package var removed = 0
    /// Files that it did not name, and parts of some.
    package var orphans = 0
    /// Files that it named and that were not there.
    package var missing = 0

    package init() {}
}

extension Journal {
    /// How many events about files one commit has.
    private static let eventsMax = 10_000

    // MARK: Sweeping

    /// Whether it is time to look for files that need not be kept.
    func isSweepDue(at now: Timestamp) throws -> Bool {
        guard guardian != nil else { return false }
        if let looked = shared.contents.lookedAt, let every = try sweepEvery(),
            looked <= now, now < looked.adding(every)
        {
            return false
        }
        let hasImports = !shared.contents.imports.isEmpty
        return try read { views in
            guard let every = try sweepEvery(views),
                try hasImports || views.hasContents() || hasParts()
            else { return false }
            guard let last = try views.sweptAt() else { return true }
            // The clock may have been set back since.
            return last > now || last.adding(every) <= now
        }
    }

    private func hasParts() throws -> Bool {
        try contentFiles.map { try !$0.partNames().isEmpty } ?? false
    }

    private func sweepEvery() throws -> TimeSpan? { try read { try sweepEvery($0) } }

    private func sweepEvery(_ views: ViewReader) throws -> TimeSpan? {
        let every = try views.model().settings.sweepEvery
        return every == .zero ? nil : every
    }

    /// Removes the files that need not be kept: says so in one commit, then unlinks them; and parts
    /// of files that are not fetched any more, and imports that nothing came to name.
    ///
    /// Nothing is logged where there is nothing to remove.
    /// A file that can't be unlinked is removed by the next opening.
    ///
    /// - Parameter now: by the device's clock.
    @discardableResult
    package func sweepContents(at now: Timestamp) throws -> RemovedContents {
        guard let files = contentFiles else { return RemovedContents() }
        let use = shared.contents
        shared.contents.lookedAt = now
        var result = RemovedContents()
        result.orphans = try settleImports(files, at: now) + removeParts(files, at: now)
        let inFlight = use.inFlightNow()
        let isDue = try read { try !$0.sweepDecision(at: now, isInFlight: inFlight).isEmpty }
        guard isDue else { return result }
        let removed = try write(at: now) { draft in
            // Anew: what was referenced meanwhile stays.
            let decision = try draft.fold.sweepDecision(at: now, isInFlight: use.isInFlight)
            guard !decision.isEmpty else { return [String]() }
            let timer = try draft.append(
                Event(
                    .timerFired, recordedAt: draft.now,
                    json: TimerFired(.sweep, now: now).encoded))
            for item in decision.items {
                // What was imported has come to be named, and is not any more.
                if let stored = try draft.fold.content(item.digest)?.stored {
                    use.forgetImport(of: item.digest, storedAt: stored.position, now)
                }
                try draft.append(.removed(item.digest, item.reason, cause: timer, draft.now))
            }
            return decision.items.map(\.digest)
        }
        for digest in removed { unlink(digest, files) }
        result.removed = removed.count
        return result
    }

    /// Forgets the imports of which the log has an event, and removes those that nothing came to
    /// name for a day.
    ///
    /// - Returns: how many were removed.
    private func settleImports(_ files: ContentFiles, at now: Timestamp) throws -> Int {
        let use = shared.contents
        let imports = use.imports
        let stored = try read { views in
            try imports.keys.reduce(into: [String: Position]()) { stored, digest in
                stored[digest] = try views.content(digest)?.stored?.position
            }
        }
        return imports.count { digest, noted in
            guard let position = stored[digest] else {
                return noted.isOver(at: now) && unlink(digest, files, at: now)
            }
            use.forgetImport(of: digest, storedAt: position, now)
            return false
        }
    }

    /// Removes the parts of files that are not fetched any more, and that nobody writes.
    ///
    /// The log says nothing of it: where such a file is wanted again, its request finds that the
    /// part is gone, says so, and begins anew.
    ///
    /// - Returns: how many were removed.
    func removeParts(_ files: ContentFiles, at now: Timestamp) throws -> Int {
        let parts = try files.partNames()
        guard !parts.isEmpty else { return 0 }
        let use = shared.contents
        let kept = try read { try $0.partsAwaited(isAwaited: true) }
        let others = parts.filter { !kept.contains($0) && use.mayRemove(part: $0) }
        guard !others.isEmpty else { return 0 }
        // No request begins meanwhile, which would go on with one of them.
        return try write(at: now) { draft in
            let kept = try draft.fold.partsAwaited(isAwaited: true)
            return use.remove(parts: others, except: kept, from: files)
        }
    }

    /// Says that a file is not kept any more, and unlinks it; nothing where none is stored.
    package func removeContent(
        _ digest: String, _ reason: AssetRemoved.Reason, at now: Timestamp
    ) throws {
        guard let files = contentFiles else { return }
        try write(at: now) { draft in
            guard try draft.fold.content(digest)?.stored != nil else { return }
            try draft.append(.removed(digest, reason, cause: nil, draft.now))
        }
        unlink(digest, files)
    }

    /// Removes a file that neither the log nor an entity names; nothing where one does, or somebody
    /// uses it.
    ///
    /// - Parameter now: for an import that is over; nil where none may be removed.
    @discardableResult
    func unlink(_ digest: String, _ files: ContentFiles, at now: Timestamp? = nil) -> Bool {
        var isGone = false
        try? shared.contents.remove(digest, at: now) {
            let row = try read { try $0.content(digest) }
            guard row?.stored == nil, row?.own.isEmpty ?? true else { return }
            try files.remove(digest)
            isGone = true
        }
        return isGone
    }

    // MARK: Opening

    /// Makes log and files agree, after a crash or where somebody touched the files: removes files
    /// that the log does not name, and says which of those that it names are not there.
    ///
    /// A file of the user's that an entity names stays, though the log once missed it: it is noted
    /// as stored again, where its length and its hash are right.
    /// Costs a look at the rows and at the folder where there are no files.
    @discardableResult
    package func settleContents(at now: Timestamp) throws -> RemovedContents {
        guard let files = contentFiles else { return RemovedContents() }
        let parts = try files.partNames()
        let there = try files.digests()
        var result = RemovedContents()
        // What a download goes on with stays.
        let inUse = parts.isEmpty ? [] : try read { try $0.partsAwaited(isAwaited: true) }
        result.orphans = shared.contents.remove(parts: parts, except: inUse, from: files)
        // What came behind what counts is in no event, and the log may need its room.
        if !inUse.isEmpty { shared.contents.cut(parts: try read { try $0.partLengths() }, files) }
        var named: Set<String> = []
        try read { views in
            try views.forEachContent { digest, row in
                if row.stored != nil { named.insert(digest) }
            }
        }
        guard !there.isEmpty || !named.isEmpty else { return result }
        var kept: [String] = []
        for digest in there where !named.contains(digest) {
            if unlink(digest, files) { result.orphans += 1 } else { kept.append(digest) }
        }
        let back = try whole(missed(kept), files)
        try noteAgain(back, at: now)
        let missing = named.subtracting(there).sorted()
        for start in stride(from: 0, to: missing.count, by: Self.eventsMax) {
            let some = Array(missing[start..<min(start + Self.eventsMax, missing.count)])
            result.missing += try write(at: now) { draft in
                var count = 0
                for digest in some {
                    // Another one may have stored it since.
                    guard try draft.fold.content(digest)?.stored != nil,
                        try !ContentFiles.isDigest(digest) || files.bytes(of: digest) == nil
                    else { continue }
                    try draft.append(.removed(digest, .missing, cause: nil, draft.now))
                    count += 1
                }
                return count
            }
        }
        return result
    }

    // MARK: What is here again

    /// Those of some files that are what their names say: of another length than what names them
    /// tells none is, and need not be read.
    private func whole(
        _ digests: [String], _ files: ContentFiles
    ) throws -> [ContentFiles.Content] {
        guard !digests.isEmpty else { return [] }
        let lengths = try read { try $0.lengths(ofFiles: Set(digests)) }
        return digests.compactMap { digest -> ContentFiles.Content? in
            if let length = lengths[digest], (try? files.bytes(of: digest)) != length {
                return nil
            }
            guard let found = try? files.content(of: digest) else { return nil }
            return found.digest == digest ? found : nil
        }
    }

    /// Those of some files that an entity names by their digests, and that the log has not as
    /// stored.
    package func missed(_ digests: [String]) throws -> [String] {
        guard !digests.isEmpty else { return [] }
        return try read { views in try digests.filter { try views.misses($0) } }
    }

    /// Says that files are stored again that the log missed, of those that an entity names.
    ///
    /// - Parameter contents: whole files under their names.
    package func noteAgain(_ contents: [ContentFiles.Content], at now: Timestamp) throws {
        for start in stride(from: 0, to: contents.count, by: Self.eventsMax) {
            let some = Array(contents[start..<min(start + Self.eventsMax, contents.count)])
            try write(at: now) { draft in
                let namers = try draft.fold.namers(ofFiles: Set(some.map(\.digest)))
                for content in some {
                    guard try draft.fold.misses(content.digest), let key = namers[content.digest]
                    else { continue }
                    let asset = AssetStored(
                        digest: content.digest, bytes: content.bytes, .imported)
                    try draft.append(
                        Event(
                            .assetStored, recordedAt: draft.now, key: key, json: asset.encoded))
                }
            }
        }
    }
}

extension Event {
    static func removed(
        _ digest: String, _ reason: AssetRemoved.Reason, cause: Position?, _ now: Timestamp
    ) -> Event {
        Event(
            .assetRemoved, recordedAt: now, cause: cause,
            json: AssetRemoved(digest: digest, reason).encoded)
    }
}
