// KintoList.swift — a list of objects with one clock: buckets, collections or records.
//
// The clock is the list's ETag. It never goes back, and every write gets a value of its own.

/// One object as the server keeps it; a tombstone when it has no fields.
struct KintoObject: Sendable, Hashable {
    var id: String
    /// Milliseconds since 1970, or the value that the client claimed; only to be compared for
    /// equality.
    var lastModified: Int64
    /// Everything but `id` and `last_modified`; nil when the object was deleted.
    var fields: ServerJSONObject?

    /// The object as JSON for an answer's body.
    var json: [UInt8] {
        let identity = "\"id\":\"\(id)\",\"last_modified\":\(lastModified)"
        guard let fields else { return Array("{\(identity),\"deleted\":true}".utf8) }
        let inner = fields.inner
        return Array("{".utf8) + inner + Array((inner.isEmpty ? "" : ",").utf8)
            + Array("\(identity)}".utf8)
    }

    /// The object as JSON, with no other fields than some.
    func json(only names: [String]) -> [UInt8] {
        let identity = "\"id\":\"\(id)\",\"last_modified\":\(lastModified)"
        var inner: [UInt8] = []
        if let fields {
            inner = fields.only(names).inner
        } else if names.contains("deleted") {
            inner = Array("\"deleted\":true".utf8)
        }
        return Array("{".utf8) + inner + Array((inner.isEmpty ? "" : ",").utf8)
            + Array("\(identity)}".utf8)
    }
}

/// A field to sort by.
struct KintoOrder: Sendable, Hashable {
    var field: String
    var isDescending: Bool

    init(field: String, isDescending: Bool) {
        self.field = field
        self.isDescending = isDescending
    }

    /// A field, perhaps after a sign; nil where Kinto ignores it.
    init?(_ text: some StringProtocol) {
        let name = text.drop { $0 == " " }
        let field = ["-", "+"].contains(name.first) ? name.dropFirst() : name
        guard !field.isEmpty, field.utf8.allSatisfy({ KintoQuery.isWord($0) }) else { return nil }
        self.init(field: String(field), isDescending: name.first == "-")
    }
}

struct KintoList: Sendable {
    private var objects: [String: KintoObject] = [:]
    private var clock: Int64 = 0

    /// The list's timestamp; reading that of an untouched list sets it to now.
    mutating func timestamp(nowMilliseconds: Int64) -> Int64 {
        if clock == 0 { clock = nowMilliseconds }
        return clock
    }

    /// An object, unless it was deleted.
    subscript(id: String) -> KintoObject? { objects[id].flatMap { $0.fields == nil ? nil : $0 } }

    /// Creates or replaces an object.
    ///
    /// - Parameter claimed: the `last_modified` that the client sent; used as it is on creation,
    ///   and on an update only when it is later than the current one.
    mutating func write(
        _ id: String, _ fields: ServerJSONObject, claimed: Int64?, nowMilliseconds: Int64
    ) -> KintoObject {
        let claimed =
            self[id].map { old in claimed.flatMap { $0 > old.lastModified ? $0 : nil } }
            ?? claimed
        let object = KintoObject(
            id: id, lastModified: stamp(claimed, nowMilliseconds), fields: fields)
        objects[id] = object
        return object
    }

    /// Deletes an object and leaves a tombstone, which is returned.
    mutating func delete(_ id: String, nowMilliseconds: Int64) -> KintoObject {
        let tombstone = KintoObject(
            id: id, lastModified: stamp(nil, nowMilliseconds), fields: nil)
        objects[id] = tombstone
        return tombstone
    }

    /// Removes every tombstone without leaving a trace, as the real server does.
    mutating func purgeTombstones() { objects = objects.filter { $0.value.fields != nil } }

    /// The objects that pass filters, sorted; tombstones only with a filter by `last_modified`.
    ///
    /// - Parameters:
    ///   - orders: by which they are sorted, the first one first; empty for the newest first.
    ///   - before: only objects earlier than this, the last one of the page before.
    func rows(
        _ filters: [KintoFilter], _ orders: [KintoOrder], before: Int64?
    ) throws(KintoRefusal) -> [KintoObject] {
        let includesDeleted = filters.contains { $0.field == "last_modified" }
        var rows: [KintoObject] = []
        for object in objects.values where object.fields != nil || includesDeleted {
            if try KintoFilter.pass(object, filters) { rows.append(object) }
        }
        if let before { rows.removeAll { $0.lastModified >= before } }
        rows.sort { ($0.lastModified, $0.id) > ($1.lastModified, $1.id) }
        // One after the other, the last one first, as Kinto does: what can't be compared fails even
        // where the first one decides.
        for order in orders.reversed() { rows = try Self.sorted(rows, order) }
        return rows
    }

    private static func sorted(
        _ rows: [KintoObject], _ order: KintoOrder
    ) throws(KintoRefusal) -> [KintoObject] {
        var hasFailed = false
        let sorted = rows.map { ($0, $0.value(order.field)) }.sorted { left, right in
            guard let comparison = left.1.compared(to: right.1) else {
                hasFailed = true
                return false
            }
            return order.isDescending ? comparison > 0 : comparison < 0
        }
        guard !hasFailed else { throw .failed }
        return sorted.map(\.0)
    }

    private mutating func stamp(_ claimed: Int64?, _ nowMilliseconds: Int64) -> Int64 {
        guard let claimed else {
            clock = max(nowMilliseconds, clock + 1)
            return clock
        }
        if claimed == clock {
            clock += 1
            return clock
        }
        clock = max(clock, claimed)
        return claimed
    }
}
