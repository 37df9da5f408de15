// Dhis2Server.swift — a server that behaves like DHIS2, used without a socket.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server in this process that behaves like DHIS2: a `Transport` that answers itself.
///
/// Requests are handled one after the other, each at once. It may be shared by several clients.
/// Objects are named by their list in the new tracker API and by id, as in `events/single1`, and
/// have that API's names of members in every version; metadata is named in the same way:
/// `programs/lxAQ7Zs9VYR`.
public final class Dhis2Server: Transport, Sendable {
    let core: ServerCore<Dhis2ServerModel>

    /// A server with a clock of its own.
    ///
    /// - Parameters:
    ///   - model: what it holds at the start.
    ///   - faults: which requests fail, and how.
    ///   - now: the server's clock.
    public init(
        _ model: Dhis2ServerModel = Dhis2ServerModel(), faults: FaultPlan = FaultPlan(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        core = ServerCore(model, faults: faults, now: now)
    }

    /// A server on a test's clock.
    public convenience init(
        _ model: Dhis2ServerModel = Dhis2ServerModel(), faults: FaultPlan = FaultPlan(),
        clock: ManualClock
    ) {
        self.init(model, faults: faults, now: { clock.now })
    }

    /// The faults that are injected; setting them resets the counts.
    public var faults: FaultPlan {
        get { core.faults }
        set { core.faults = newValue }
    }

    /// The requests of clients so far, in order.
    public var requestLog: [LoggedRequest] { core.log }

    /// Empties ``requestLog``.
    public func clearRequestLog() { core.clearLog() }

    /// Reads or changes the model directly, for example its version or its users.
    public func withModel<R: Sendable>(_ body: (inout Dhis2ServerModel) -> R) -> R {
        core.withModel(body)
    }

    /// Sends a request; faults apply.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try core.send(request, body: body, limits: limits)
    }

    // MARK: Changes by another client, without checks, faults and log

    /// Writes an object of the metadata, a tracker object with the objects in it, or an aggregate
    /// data value.
    ///
    /// A tracker object is changed as the new API does: members and values that are not given stay.
    /// A tracked entity may say by which unit it is owned in which program: `programOwners`.
    ///
    /// - Parameters:
    ///   - key: list and id: `programs/lxAQ7Zs9VYR` or `trackedEntities/PgmUFEQYZdt`.
    ///   - json: the object; an id in it is of no matter.
    public func put(_ key: String, _ json: String) {
        let (list, id) = Self.place(key)
        let object = Self.object(json)
        let now = now
        core.withModel { model in
            if let key = Dhis2DataValue.Key(list, id) {
                var whole = object
                for (member, value) in key.members { whole[member] = value }
                return model.putDataValue(whole, in: JSONObject(), now: now)
            }
            guard let kind = Dhis2Kind(rawValue: list) else {
                model.putMetadatum(list, id, object, now: now)
                return
            }
            var whole = object
            whole[kind.idMember] = .string(id)
            model.put(model.node(kind, whole), now: now)
            for owner in object["programOwners"]?.array ?? [] {
                guard let program = owner["program"]?.stringValue else { continue }
                let ownership = Dhis2Ownership(trackedEntity: id, program: program)
                model.owners[ownership] = owner["orgUnit"]?.stringValue
            }
        }
    }

    /// Writes aggregate data values, in the form of a data value set.
    public func putDataValues(_ json: String) {
        let object = Self.object(json)
        let now = now
        core.withModel { model in
            for item in object["dataValues"]?.array ?? [] {
                model.putDataValue(item.object ?? JSONObject(), in: object, now: now)
            }
        }
    }

    /// Deletes a tracker object with what is below it, or a data value; lists name them with
    /// `includeDeleted`.
    public func delete(_ key: String) {
        let (list, id) = Self.place(key)
        let now = now
        core.withModel { model in
            if let key = Dhis2DataValue.Key(list, id) {
                return model.removeDataValue(key, now: now)
            }
            if let kind = Dhis2Kind(rawValue: list) {
                model.remove(kind, id, now: now)
            } else {
                model.metadata[list]?.removeAll { $0.id == id }
            }
        }
    }

    /// Removes a tracker object or a data value without a trace, as when it is purged.
    public func forget(_ key: String) {
        let (list, id) = Self.place(key)
        if let key = Dhis2DataValue.Key(list, id) {
            return core.withModel { $0.dataValues[key] = nil }
        }
        guard let kind = Dhis2Kind(rawValue: list) else { return delete(key) }
        core.withModel { $0.rows[kind]?[id] = nil }
    }

    /// A tracker object as JSON text without the objects in it, an object of the metadata, or a
    /// data value; nil when there is none or it was deleted.
    public func record(_ key: String) -> String? {
        let (list, id) = Self.place(key)
        return core.withModel { model in
            if let key = Dhis2DataValue.Key(list, id) {
                guard let value = model.dataValues[key], !value.isDeleted else { return nil }
                return JSONValue.object(model.wire(value)).description
            }
            guard let kind = Dhis2Kind(rawValue: list) else {
                return model.metadatum(list, id).map {
                    JSONValue.object($0.fields).description
                }
            }
            return model.live(kind, id).map { JSONValue.object($0.fields).description }
        }
    }

    /// All tracker objects of a kind that are not deleted, by id, in the form of ``record(_:)``.
    public func records(in collection: CollectionName) -> [String: String] {
        guard let kind = Dhis2Kind(rawValue: collection.rawValue) else { return [:] }
        return core.withModel { model in
            Dictionary(
                model.all(kind).filter { !$0.isDeleted }
                    .map { ($0.id, JSONValue.object($0.fields).description) }
            ) { _, last in last }
        }
    }

    /// Whether something can have this key: `events/single1`, or, of a data value, what it is told
    /// by: `dataValues/element-period-unit-category-attribute`.
    package static func isRow(_ key: String) -> Bool { find(key) != nil }

    /// Loses all jobs, those that wait and those that are done, as a server does that starts anew.
    public func loseJobs() { core.withModel { $0.jobs = [] } }

    /// Carries out the jobs that wait.
    public func finishJobs() {
        let now = core.now()
        core.withModel { $0.finishJobs(at: now) }
    }

    private var now: Timestamp { core.now() }

    private static func object(_ json: String) -> JSONObject {
        guard let object = (try? JSONValue(parsing: Array(json.utf8)))?.object else {
            fatalError("\(json) is no JSON object")
        }
        return object
    }

    private static func place(_ key: String) -> (String, String) {
        guard let place = find(key) else {
            fatalError("\(key) is no object: events/single1 would be")
        }
        return place
    }

    private static func find(_ key: String) -> (String, String)? {
        let parts = key.split(separator: "/").map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[0] == Dhis2DataValue.list {
            return Dhis2DataValue.Key(parts[0], parts[1]).map { _ in (parts[0], parts[1]) }
        }
        let isKnown = Dhis2Kind(rawValue: parts[0]) != nil || Dhis2ServerModel.isMetadata(parts[0])
        return isKnown ? (parts[0], parts[1]) : nil
    }
}

extension Dhis2ServerModel {
    /// Writes an object and what is in it, without checks.
    mutating func put(_ node: Dhis2Node, now: Timestamp) {
        let user = Dhis2User(id: "xE7jOejl9FI", username: "admin")
        for node in node.flat {
            let node = prepared(node)
            if rows[node.kind]?[node.id]?.isDeleted == true { rows[node.kind]?[node.id] = nil }
            _ = apply(node, .new, user, now)
        }
    }

    /// Writes an aggregate data value, without checks.
    mutating func putDataValue(_ object: JSONObject, in set: JSONObject, now: Timestamp) {
        let call = Dhis2Call(
            method: .post, path: .dataValueSets, query: Dhis2Query(""), body: [], now: now,
            user: Dhis2User(id: "xE7jOejl9FI", username: "admin"))
        _ = keep(object, key(of: object, in: set), .createAndUpdate, call)
    }

    /// Deletes an aggregate data value.
    mutating func removeDataValue(_ key: Dhis2DataValue.Key, now: Timestamp) {
        guard dataValues[key] != nil else { return }
        dataValues[key]?.isDeleted = true
        dataValues[key]?.lastUpdated = now
    }
}
