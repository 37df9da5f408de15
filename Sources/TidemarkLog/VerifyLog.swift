// VerifyLog.swift — proving that the log is what was written: checksums, density, commits, roots.

import TidemarkEvents
package import TidemarkStore

/// What a verification looked at.
package struct LogVerification: Sendable, Hashable {
    package var events: UInt64 = 0
    package var commits: UInt64 = 0
    package var bytes: UInt64 = 0
    package var root: Hash = []
    /// What is wrong, in the order of the log; at most as many as were asked for.
    package var findings: [LogError] = []
}

extension EventLog {
    /// Recomputes everything that can be recomputed from the log alone.
    ///
    /// Every event's checksum and header, the density of the positions, the Merkle root of each
    /// commit, the right edge, and every body that an event refers to. Goes on after a finding, up
    /// to `findingsMax` of them.
    package func verify(
        findingsMax: Int = 100, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogVerification {
        var commits: [CommitRecord] = []
        var result = LogVerification()
        do {
            try forEachCommit(transaction) { record in
                commits.append(record)
                return true
            }
        } catch let error as LogError {
            result.findings.append(error)
        }
        result.commits = UInt64(commits.count)

        var edge = MerkleEdge()
        var nextCommit = commits.makeIterator()
        var commit = nextCommit.next()
        var expected = Position(1)
        var rootsHold = true
        var bodies = BodyCheck()
        try forEachFrame(transaction) { position, frame in
            if position != expected {
                result.findings.append(
                    LogError(.missingEvent, at: expected, "the next event is \(position)"))
                rootsHold = false
            }
            expected = position.next
            switch frame {
            case .failure(let damage):
                result.findings.append(LogError(damage: damage, at: position))
                rootsHold = false
            case .success(let frame):
                result.bytes += UInt64(frame.encodedBytes)
                do { try bodies.check(frame, at: position, self, transaction) } catch let error
                    as LogError
                {
                    result.findings.append(error)
                }
                edge.append(
                    leaf: MerkleEdge.leaf(
                        position: position, header: frame.header, payloadHash: frame.payload.hash))
            }
            result.events += 1
            while let record = commit, record.last <= position {
                // After the first damage no later root can be told right from wrong.
                if rootsHold, record.last != position || record.root != edge.root {
                    result.findings.append(
                        LogError(.rootMismatch, at: record.last, "the commit's root differs"))
                    rootsHold = false
                }
                commit = nextCommit.next()
            }
            return result.findings.count < findingsMax
        }
        if result.findings.count < findingsMax {
            result.findings += try endFindings(commits, edge, rootsHold, transaction)
        }
        result.root = edge.root
        return result
    }

    private func endFindings(
        _ commits: [CommitRecord], _ edge: MerkleEdge, _ rootsHold: Bool,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [LogError] {
        var findings: [LogError] = []
        var expected = Position(1)
        for record in commits {
            if record.first != expected || record.last < record.first {
                findings.append(
                    LogError(
                        .corruptCommit, at: record.last,
                        "it begins at \(record.first), not at \(expected)"))
                break
            }
            expected = record.last.next
        }
        let last = try lastPosition(transaction)
        if findings.isEmpty, expected != last.next {
            findings.append(
                LogError(.corruptCommit, at: last, "commits end before \(expected)"))
        }
        do {
            let stored = try self.edge(transaction)
            if stored.size != last.rawValue {
                findings.append(
                    LogError(
                        .missingEvent, at: Position(min(stored.size, last.rawValue) + 1),
                        "the log holds \(last.rawValue) events, \(stored.size) were appended"))
            } else if rootsHold, stored != edge {
                findings.append(LogError(.corruptEdge, at: last, "the right edge differs"))
            }
        } catch let error as LogError {
            findings.append(error)
        }
        return findings
    }
}
