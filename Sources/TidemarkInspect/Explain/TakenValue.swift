// TakenValue.swift — the reserved values that an entity holds, and when each was taken.

package import TidemarkEvents
package import TidemarkViews

/// A value of an entity that was taken from a pool.
package struct TakenValue: Sendable, Hashable {
    /// The field that holds it, or the element of a list by its name.
    package var field: String
    package var value: String
    package var key: PoolKey
    /// The `reserved.taken`.
    package var position: Position

    /// The value for people: `number holds A-17, taken from numbers of A1 at @12`.
    var words: String {
        EventText.printable("\(field) holds \(value), taken from \(key) at ") + "\(position)"
    }

    var json: JSONValue {
        .object([
            "field": .string(field), "value": .string(value), "pool": .string(key.pool),
            "key": .array(key.texts.map(JSONValue.string)),
            "position": .number(JSONNumber(position.rawValue)),
        ])
    }
}

extension ViewReader {
    /// The values of an entity that were taken from pools, in the order of its document; none in a
    /// store without pools.
    package func takenValues(
        _ row: EntityRow, in collection: CollectionModel?, _ model: SyncModel
    ) throws -> [TakenValue] {
        var keys: [PoolKey] = []
        for key in try model.poolKeys + poolKeys()
        where !keys.contains(where: { $0.pool == key.pool && $0.texts.first == key.texts.first }) {
            keys.append(key)
        }
        guard !keys.isEmpty,
            let document = row.readable(in: collection)?.named(for: nil, in: collection)
        else { return [] }
        var found: [TakenValue] = []
        for field in document.keys {
            for text in document.value(field)?.texts ?? [] {
                for key in keys {
                    guard let position = try taking(of: text, from: key) else { continue }
                    // Keys that begin with the same text share their values.
                    let taken = try event(at: position)?.read(ReservedTaken.self)
                    found.append(
                        TakenValue(
                            field: field, value: text, key: taken?.place.key ?? key,
                            position: position))
                }
            }
        }
        return found
    }
}

extension JSONValue {
    /// All texts in it, in order.
    fileprivate var texts: [String] {
        if let text = stringValue { return [text] }
        if let array { return array.flatMap(\.texts) }
        return object?.flatMap(\.value.texts) ?? []
    }
}
