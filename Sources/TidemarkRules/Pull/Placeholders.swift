// Placeholders.swift — what a placeholder looks like, and when the server is asked for it again.

package import TidemarkEvents

extension PlaceholderRule {
    /// Raised whenever the same inputs would give another result.
    package static let version: UInt64 = 1

    /// The document of a placeholder: its id, the rule's fields, and what it gets from the entity
    /// that refers to it, where that has it.
    ///
    /// - Parameters:
    ///   - target: the collection that the placeholder is in.
    ///   - referring: the document that names it.
    package func document(
        of id: String, in target: CollectionModel, from referring: JSONDocument
    ) -> [UInt8] {
        var object: JSONObject = [target.idField: target.idValue(id)]
        for (name, value) in fields where name != target.idField { object[name] = value }
        for name in copies where name != target.idField {
            if let value = referring.value(name) { object[name] = value }
        }
        return JSONValue.object(object).encoded()
    }

    /// Whether the server is to be asked for a placeholder.
    ///
    /// - Parameters:
    ///   - triedAt: when it was asked last, in vain; nil for never.
    ///   - now: the server's time.
    package func isDue(triedAt: Timestamp?, now: Timestamp) -> Bool {
        guard refetch.every != .zero else { return false }
        guard let triedAt else { return true }
        return triedAt.adding(refetch.every) < now
    }
}

extension CollectionModel {
    /// An id as the server writes it: a number where it numbers entities, also those that nobody
    /// makes here.
    ///
    /// - Parameter said: what it said of the entity; nil where that is not known.
    package func idValue(_ id: String, asIn said: [UInt8]? = nil) -> JSONValue {
        guard let number = JSONValue(wholeNumber: id) else { return .string(id) }
        if ids == .serverNumber { return number }
        guard let said, case .number? = JSON.value(idField, of: said) else { return .string(id) }
        return number
    }
}
