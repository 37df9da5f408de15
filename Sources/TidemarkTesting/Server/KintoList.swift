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

    /// Objects newest first; tombstones only when `since` is given.
    ///
    /// - Parameters:
    ///   - since: only objects later than this.
    ///   - before: only objects earlier than this, the last one of the page before.
    func page(since: Int64?, before: Int64?) -> [KintoObject] {
        objects.values
            .filter { object in
                guard let since else { return object.fields != nil }
                return object.lastModified > since
            }
            .filter { object in before.map { object.lastModified < $0 } ?? true }
            .sorted { ($0.lastModified, $0.id) > ($1.lastModified, $1.id) }
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
