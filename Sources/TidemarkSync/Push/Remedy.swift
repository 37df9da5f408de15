// Remedy.swift — what is done so that the server takes what it did not take, found from the views.

package import TidemarkEvents
package import TidemarkViews

/// A write that the server refused, or left alone.
package struct UntakenWrite: Sendable, Hashable {
    package var item: PushItem
    package var answer: ServerAnswer

    package init(_ item: PushItem, _ answer: ServerAnswer) {
        self.item = item
        self.answer = answer
    }
}

/// An action that the engine has the server do for the sake of some writes.
package struct Remedy: Sendable, Hashable {
    /// The action.
    package var call: ServerCall
    /// The entity that it is about.
    package var key: EntityKey
    /// The writes that the server did not take.
    package var writes: [UntakenWrite]
    /// Of each, the event that says so: the refusal, or the request that was left alone.
    package var refusals: [Position]

    package init(
        _ call: ServerCall, of key: EntityKey, for writes: [UntakenWrite], refusals: [Position]
    ) {
        self.call = call
        self.key = key
        self.writes = writes
        self.refusals = refusals
    }

    /// `approve of orders/7`.
    package var name: String {
        guard case .perform(_, _, let action, _, _) = call else { return "\(key)" }
        return "\(action) of \(key)"
    }
}

extension ViewReader {
    /// What is done about writes that the server did not take, as the adapter says: each action
    /// once, in the order of the writes.
    package func remedies(
        for writes: [UntakenWrite], _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> [Remedy] {
        var found: [(remedy: Remedy, isAsked: Bool)] = []
        var places: [ServerRemedy: Int] = [:]
        for write in writes {
            let named = adapter.remedy(
                for: write.answer, to: write.item.call, { try? knownDocument($0) },
                asked: { try? lastParameters(of: $1, about: $0) })
            guard var told = named, let collection = model[told.key.collection],
                collection.rule(of: told.action) != nil,
                let refusal = try refusal(of: write.item)
            else { continue }
            let isAsked = told.isAsked
            told.isAsked = true
            if let place = places[told] {
                found[place].remedy.writes.append(write)
                found[place].remedy.refusals.append(refusal)
                found[place].isAsked = found[place].isAsked || isAsked
                continue
            }
            let key = try resolve(told.key)
            guard try !isAbsentOrRefused(key) else { continue }
            places[told] = found.count
            let call = ServerCall.perform(
                collection, id: told.key.id, action: told.action, parameters: told.parameters)
            found.append((Remedy(call, of: key, for: [write], refusals: [refusal]), isAsked))
        }
        return found.filter(\.isAsked).map(\.remedy)
    }

    /// An entity as it is here, or as the server had it before it was deleted here.
    private func knownDocument(_ key: EntityKey) throws -> JSONDocument? {
        if let bytes = try document(key) { return try JSONDocument(parsing: bytes) }
        guard let base = try entity(resolve(key))?.base, !base.isEmpty else { return nil }
        return try JSONDocument(parsing: base)
    }

    /// What an action of an entity needed that granted something last.
    private func lastParameters(
        of action: String, about key: EntityKey
    ) throws -> [String: String]? {
        try grant(action, of: key).map { LocalRequested(stored: $0.requested).texts }
    }

    /// The event that says that the server did not take a write.
    private func refusal(of item: PushItem) throws -> Position? {
        let row = try entity(resolve(item.key))
        if let refusal = row?.refusal { return refusal.position }
        return try item.covers.last.flatMap { try mutation($0)?.call }
    }

    /// Whether the server does not have an entity, or refused it: that comes first.
    private func isAbsentOrRefused(_ key: EntityKey) throws -> Bool {
        guard let row = try entity(key) else { return false }
        return row.status == .error || (row.baseState == .absent && !row.pending.isEmpty)
    }
}
