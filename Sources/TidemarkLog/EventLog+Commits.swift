// EventLog+Commits.swift — reading the records of commits, wherever they lie.

package import TidemarkEvents
package import TidemarkStore

extension EventLog {
    /// Walks over the records of the commits in order; `body` says whether to go on.
    ///
    /// - Throws: ``LogError`` at the first one that can't be read.
    package func forEachCommit(
        from first: Position? = nil, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (CommitRecord) throws -> Bool
    ) throws {
        var goesOn = try sealed.forEachRecord(
            from: first, transaction, damaged: { throw LogError(damage: $1, at: $0) }
        ) { last, isCommit, value in
            guard isCommit else { return true }
            return try body(try CommitRecord(framed: value, last: last))
        }
        guard goesOn else { return }
        try forEachFormerCommit(from: first, transaction) { last, value in
            guard let last else {
                throw LogError(
                    .corruptCommit, at: .start, "a key of the table commits is no position")
            }
            let record: CommitRecord
            do { record = try CommitRecord(parsing: value.copied(), last: last) } catch {
                throw LogError(.corruptCommit, at: last, "\(error)")
            }
            goesOn = try body(record)
            return goesOn
        }
        guard goesOn else { return }
        try transaction.scan(
            log, from: max(first ?? .start, try sealed.last(transaction)).bigEndianBytes,
            prefix: [], reversed: false
        ) { key, value in
            guard CommitRecord.isKey(key), let last = CommitRecord.position(key) else {
                return true
            }
            return try body(try CommitRecord(framed: value, last: last))
        }
    }

    /// Walks over the records of the commits that were made in format 1; hands over nil for a key
    /// that is no position.
    func forEachFormerCommit(
        from first: Position?, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (_ last: Position?, _ record: Span<UInt8>) throws -> Bool
    ) throws {
        guard let formerCommits else { return }
        try transaction.scan(
            formerCommits, from: first?.bigEndianBytes, prefix: [], reversed: false
        ) { key, value in try body(Position(key), value) }
    }

    /// The record of the commit that ends at a position; nil when none does.
    func commit(
        endingAt last: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> CommitRecord? {
        let found = try transaction.withValue(log, CommitRecord.key(last)) {
            try CommitRecord(framed: $0, last: last)
        }
        if let found { return found }
        let block = try sealed.block(holding: last, transaction)
        return try block?.commit(endingAt: last) ?? formerCommit(endingAt: last, transaction)
    }

    /// The record of the commit that was made in format 1, is not sealed and ends at a position;
    /// nil when none does.
    func formerCommit(
        endingAt last: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> CommitRecord? {
        guard let formerCommits,
            let bytes = try transaction.get(formerCommits, last.bigEndianBytes)
        else { return nil }
        do { return try CommitRecord(parsing: bytes, last: last) } catch {
            throw LogError(.corruptCommit, at: last, "\(error)")
        }
    }

    /// The first end of a commit at or after a position, or the last one at or before it.
    package func commitEnd(
        from start: Position, reversed: Bool, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position? {
        var found: Position?
        func look(_ table: Table, from key: [UInt8], isFormer: Bool) throws {
            guard found == nil else { return }
            try transaction.scan(table, from: key, prefix: [], reversed: reversed) { key, _ in
                guard isFormer || CommitRecord.isKey(key) else { return true }
                found = isFormer ? Position(key) : CommitRecord.position(key)
                return false
            }
        }
        func lookSealed() throws {
            guard found == nil else { return }
            _ = try sealed.forEachRecord(
                from: start, reversed: reversed, transaction,
                damaged: { throw LogError(damage: $1, at: $0) }
            ) { last, isCommit, _ in
                if isCommit { found = last }
                return !isCommit
            }
        }
        if !reversed {
            try lookSealed()
            if let formerCommits {
                try look(formerCommits, from: start.bigEndianBytes, isFormer: true)
            }
        }
        try look(
            log, from: reversed ? CommitRecord.key(start) : start.bigEndianBytes, isFormer: false)
        if reversed {
            if let formerCommits {
                try look(formerCommits, from: start.bigEndianBytes, isFormer: true)
            }
            try lookSealed()
        }
        return found
    }

    /// How many commits there are, by what is counted with each.
    ///
    /// - Throws: ``LogError`` `corruptEdge`.
    package func commitCount(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> UInt64 {
        let edge = try edge(transaction)
        return try edge.sealedCommits + formerCommitCount(transaction) + edge.commits
    }

    /// How many commits were made in format 1.
    func formerCommitCount(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> UInt64 {
        try formerCommits.map { UInt64(try transaction.count($0)) } ?? 0
    }

    /// How many events there are, sealed or not, where the edge counts the commits right.
    func eventCount(
        _ edge: MerkleEdge, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> UInt64 {
        let records = UInt64(try transaction.count(log))
        let others = edge.commits + edge.keptEvents
        return try records - min(records, others) + sealed.last(transaction).rawValue
    }
}
