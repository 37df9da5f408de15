// TogglCombined.swift — an answer about the user with the lists of what is his: `/me` with
// `with_related_data`. Members that are no lists are the user's own.

import TidemarkEvents
public import TidemarkSync

extension TogglAdapter {
    /// Of an answer about several lists only what was asked for is kept, each part without what its
    /// own collection drops: the user comes with any of them, and with him his token.
    public func dropping(from body: [UInt8], of call: ServerCall) -> [UInt8] {
        guard case .combined(let collections) = call else {
            return JSON.dropping(call.drops, from: body)
        }
        guard let document = try? JSONDocument(parsing: body) else {
            // A page of a network is no answer of Toggl's, whatever stands in it.
            if body.isMarkup { return JSON.dropping(call.drops, from: body) }
            // In one that is cut off nobody can tell what is whose.
            return body.contains(UInt8(ascii: "{")) ? [] : body
        }
        var set: [(key: String, value: [UInt8])] = []
        var unset: [String] = []
        for key in document.keys {
            let type = TogglType.related.first { $0.rawValue == key } ?? .user
            guard let raw = document.rawValue(key),
                let owner = collections.first(where: { $0.name.rawValue == type.rawValue }),
                type != .user || !owner.drops.contains(key)
            else {
                unset.append(key)
                continue
            }
            guard !owner.drops.isEmpty else { continue }
            let left = JSON.dropping(owner.drops, from: Array(raw))
            if left.count < raw.count { set.append((key, left)) }
        }
        return set.isEmpty && unset.isEmpty ? body : document.applying(set: set, unset: unset)
    }

    /// The user with what is about him; what is null or left out says nothing.
    static func pages(
        _ collections: [CollectionModel], _ body: [UInt8]
    ) throws(SyncFailure) -> [CombinedPage] {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch {
            throw .malformed("the user: \(error)")
        }
        var pages: [CombinedPage] = []
        for collection in collections {
            let type = try TogglType.known(collection)
            var bytes: [UInt8]?
            if type == .user {
                // As it is without the others.
                bytes = document.applying(set: [], unset: TogglType.related.map(\.rawValue))
            } else if TogglType.related.contains(type) {
                bytes = document.rawValue(type.rawValue).map { Array($0) }
            }
            guard let bytes else { continue }
            let page = try page(collection, bytes)
            pages.append(
                CombinedPage(
                    collection.name, records: page.records, unreadable: page.unreadable))
        }
        return pages
    }
}
