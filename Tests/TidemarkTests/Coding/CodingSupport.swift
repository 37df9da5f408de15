// CodingSupport.swift — values of any type as the field of an entity.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

/// An entity with one field.
struct Holder<Value: Codable & Sendable>: Entity {
    static var collection: CollectionName { "holders" }
    var id = Tidemark.ID<Holder<Value>>("h")
    var value: Value
}

/// A model of holders, with the formats under test.
func holders(
    _ dates: DateFormat = .iso8601, _ keys: KeyStyle = .verbatim, nullable: [String] = []
) -> SyncModel {
    SyncModel(
        name: "holders",
        collections: [
            CollectionModel("holders", dates: dates, keys: keys, nullable: nullable)
        ])
}

/// Reads a document as an entity.
func decodeEntity<T: Entity>(
    _ type: T.Type, _ json: String, id: String = "h", in model: SyncModel = holders()
) throws -> T {
    let collection = try #require(model.collections.first)
    return try EntityReader(type, in: collection).entity(
        EntityKey(collection.name, id), Array(json.utf8))
}

/// Reads the text of a field.
func decodeValue<Value: Codable & Sendable>(
    _ type: Value.Type, _ json: String, in model: SyncModel = holders()
) throws -> Value {
    try decodeEntity(Holder<Value>.self, #"{"value":\#(json)}"#, in: model).value
}

/// What is written of a field when an entity with it is created.
func encodeValue<Value: Codable & Sendable>(
    _ value: Value, in model: SyncModel = holders()
) throws -> String? {
    let replica = try Replica.temporary(model: model)
    defer { try? replica.deleteTemporary() }
    try replica.write { tx in try tx.create(Holder(value: value)) }
    let document = try #require(try replica.read { try $0.document(EntityKey("holders", "h")) })
    let raw = try JSONDocument(parsing: document).rawValue("value")
    return raw.map { String(decoding: $0, as: UTF8.self) }
}

/// The sentence with which a field is refused.
func refusal<Value: Codable & Sendable>(
    _ type: Value.Type, _ json: String, in model: SyncModel = holders()
) -> String {
    do {
        return "read as \(try decodeValue(type, json, in: model))"
    } catch let error as TidemarkError {
        let parts = error.message.split(separator: ": ", maxSplits: 1)
        return parts.last.map(String.init)?.split(separator: "; ").first.map(String.init) ?? ""
    } catch { return "\(error)" }
}
