// WhatIf.swift — folds the same events under another policy or model, or without some of them, and
// compares the outcomes.

package import TidemarkCapsule
public import TidemarkEvents
package import TidemarkInspect
import TidemarkViews

/// What is to differ from the recording.
public struct WhatIf: Sendable, Hashable {
    /// Another model, instead of every one in the log.
    public var model: SyncModel?
    /// Other conflict policies, by their collections, in every model of the log.
    public var policies: [CollectionName: ConflictPolicy]
    /// Events that are left out, together with the events that follow from them.
    public var without: [Position]

    /// A change; by default none.
    public init(
        model: SyncModel? = nil, policies: [CollectionName: ConflictPolicy] = [:],
        without: [Position] = []
    ) {
        self.model = model
        self.policies = policies
        self.without = without
    }
}

/// The outcome with the change.
package struct WhatIfOutcome: Sendable, Hashable {
    /// The difference from the outcome of the recorded events.
    package var difference: ViewsDifference
    /// The events that were left out, in log order.
    package var leftOut: [CauseStep]
}

extension WhatIf {
    /// Folds a capsule by today's rules, once as it is and once with the change.
    ///
    /// Requests and answers stay as recorded: another policy changes what the views make of them,
    /// not what the engine would have sent. Rows of the base stay as they are, except for the
    /// model.
    ///
    /// - Throws: ``ReplayMistake`` for a collection or an event that is not in the capsule.
    package func outcome(
        of capsule: Capsule, through: Position? = nil
    ) throws -> WhatIfOutcome {
        let (changed, leftOut) = try changed(capsule)
        let before = try FoldReplay(capsule, through: through, compares: false)
        let after = try FoldReplay(changed, through: through, compares: false)
        for replay in [before, after] { if let error = replay.report.divergence { throw error } }
        var difference = try ViewsDifference(before: before, after: after)
        // The changed model itself does not count as a difference.
        if model != nil || !policies.isEmpty { difference.removeRows(of: .store) }
        return WhatIfOutcome(difference: difference, leftOut: leftOut)
    }

    /// The capsule with the change, and its old digests.
    package func changed(_ capsule: Capsule) throws -> (Capsule, leftOut: [CauseStep]) {
        var changed = capsule
        var leftOut: [CauseStep] = []
        if !without.isEmpty {
            for position in without { _ = try capsule.commitIndex(of: position) }
            let gone = Self.following(without, capsule)
            changed.commits = capsule.commits.compactMap { commit in
                var commit = commit
                leftOut += commit.entries.filter { gone.contains($0.position) }
                    .map { CauseStep(position: $0.position, text: EventText.line($0.event)) }
                commit.entries.removeAll { gone.contains($0.position) }
                return commit.entries.isEmpty ? nil : commit
            }
        }
        if model != nil || !policies.isEmpty { try replaceModels(&changed) }
        return (changed, leftOut)
    }

    /// Some events, and all events that have one of those as a cause.
    private static func following(_ positions: [Position], _ capsule: Capsule) -> Set<Position> {
        var gone = Set(positions)
        for commit in capsule.commits {
            for entry in commit.entries
            where CauseChain.references(of: entry.event).contains(where: gone.contains) {
                gone.insert(entry.position)
            }
        }
        return gone
    }

    private func replaceModels(_ capsule: inout Capsule) throws {
        var found = 0
        for index in capsule.commits.indices {
            for place in capsule.commits[index].entries.indices
            where capsule.commits[index].entries[place].event.kind == .modelRegistered {
                let payload = capsule.commits[index].entries[place].event.payload
                capsule.commits[index].entries[place].event.payload = try replaced(payload)
                found += 1
            }
        }
        for index in capsule.base.rows.indices
        where capsule.base.rows[index].key == .store("model") {
            var row = try StoreFactRow(parsing: capsule.base.rows[index].value)
            row.payload = try replaced(row.payload)
            capsule.base.rows[index].value = row.encoded
            found += 1
        }
        guard found > 0 else { throw ReplayMistake("no model is registered in it") }
    }

    private func replaced(_ payload: [UInt8]) throws -> [UInt8] {
        var registration: ModelRegistration
        do { registration = try ModelRegistration(parsing: payload, isLogged: true) } catch {
            throw ReplayMistake("a model in it can't be read: \(error)")
        }
        if let model { registration.model = model }
        for (name, policy) in policies.sorted(by: { $0.key < $1.key }) {
            let index = registration.model.collections.firstIndex { $0.name == name }
            guard let index else {
                let names = registration.model.collections.map { "\($0.name)" }
                throw ReplayMistake(
                    "the model has no collection \(name); it has \(names.joined(separator: ", "))")
            }
            registration.model.collections[index].conflict = policy
        }
        do { return try registration.checked(beside: registration).encoded } catch {
            throw ReplayMistake("the model would not be one: \(error)")
        }
    }
}

extension ConflictPolicy {
    /// Reads a policy as commands write it: `serverWins`, `mergeFields:localWins`,
    /// `preferNewer:at`, `preferNewer:at:5`, or as the JSON in a model.
    ///
    /// - Throws: ``ReplayMistake`` with the mistake.
    package init(named text: String) throws(ReplayMistake) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let value: JSONValue
        if text.hasPrefix("{"), let parsed = try? JSONValue(parsing: Array(text.utf8)) {
            value = parsed
        } else if parts.count == 1 {
            value = .string(text)
        } else if parts[0] == "preferNewer", parts.count <= 3,
            let margin = parts.count == 3 ? Int(parts[2]) : 0
        {
            guard (0...86_400).contains(margin) else {
                throw ReplayMistake(
                    "\"\(text)\" is no conflict policy: the margin is in seconds, from 0 up to "
                        + "86400")
            }
            let span = TimeSpan.seconds(margin).description
            value = ["preferNewer": ["field": .string(parts[1]), "margin": .string(span)]]
        } else {
            value = .object([parts[0]: .string(parts.dropFirst().joined(separator: ":"))])
        }
        // Of a collection that may have any policy.
        let collection: JSONValue = [
            "name": "c", "conflict": value, "references": ["parent": "c"],
            "contents": ["content": [:]],
            "tree": [
                "parent": "parent", "name": "name", "kind": "kind", "isByPath": true,
                "content": "content",
            ],
        ]
        let model: JSONValue = ["collections": [collection]]
        do {
            let parsed = try ModelRegistration(parsing: model.encoded())
            self = parsed.model.collections.first?.conflict ?? .serverWins
        } catch {
            throw ReplayMistake("\"\(text)\" is no conflict policy: \(error.problem)")
        }
    }
}
