// EntityCoding.swift — between the app's types and documents. Dates are ISO 8601 texts.

import Foundation
import TidemarkEvents

enum EntityCoding {
    static func decode<T: Entity>(_ type: T.Type, _ bytes: [UInt8], _ key: EntityKey) throws -> T {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do { return try decoder.decode(T.self, from: Data(bytes)) } catch {
            throw TidemarkError(.invalidDocument, "\(key) is no \(T.self): \(error)")
        }
    }

    static func encode<T: Entity>(_ entity: T) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(entity))
    }
}
