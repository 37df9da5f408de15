// ScenarioServer.swift — the servers that a scenario can name, each with its adapter.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// The kinds of servers.
enum ScenarioServerKind: String, Sendable, CaseIterable {
    case kinto
    case toggl
    case dhis2
    case webdav

    static let origin = "http://server.test"

    /// Its address and adapter.
    func remote(_ version: Dhis2Version, _ webdav: WebDAVSetup) -> Remote {
        switch self {
        case .kinto: .kinto(origin: Self.origin, bucket: KintoScenarioServer.bucket)
        case .toggl: .toggl(origin: Self.origin)
        case .dhis2: .dhis2(origin: Self.origin, version: version.text)
        case .webdav:
            .webdav(
                origin: Self.origin, home: "/", heedsPreconditions: webdav.preconditions == .known)
        }
    }

    /// The edits of other clients that it supports besides `put`.
    var edits: [String] {
        switch self {
        case .kinto, .dhis2: ["delete", "forget"]
        case .toggl: ["delete", "forget", "archive"]
        case .webdav: ["delete", "move"]
        }
    }

    /// Whether it is like Toggl: it assigns numbers as ids, and can limit requests.
    var isToggl: Bool { self == .toggl }

    /// The id of the only entity in a collection whose rows have no id.
    func id(of collection: CollectionName) -> String? {
        isToggl && collection.rawValue == TogglKind.preferences.rawValue
            ? collection.rawValue : nil
    }

    /// Why a record can't have this key; nil where it can.
    func problem(with key: EntityKey) -> String? {
        if self == .dhis2, !Dhis2Server.isRow(key.description) {
            return key.collection.rawValue == Dhis2DataValue.list
                ? "what a value is told by is needed as id: D1-202601-O1-C1-A1"
                : "such a server has no \(key.collection)"
        }
        guard isToggl else { return nil }
        guard let type = TogglKind(rawValue: key.collection.rawValue) else {
            return "such a server has no \(key.collection)"
        }
        return type == .preferences || Int64(key.id) != nil ? nil : "a number as id is needed"
    }

    /// Makes a server of this kind.
    func make(
        _ model: SyncModel, _ setup: ScenarioSetup, _ clock: ManualClock
    ) -> any ScenarioServer {
        switch self {
        case .kinto: KintoScenarioServer(model, clock)
        case .toggl: TogglScenarioServer(setup, clock)
        case .dhis2: Dhis2ScenarioServer(setup.dhis2, clock)
        case .webdav: WebDAVScenarioServer(setup.webdav, clock)
        }
    }
}

/// The interface of a server in memory that a scenario needs.
protocol ScenarioServer: Sendable {
    var transport: any Transport { get }
    /// Whether it gives files, beside those that are put at an address.
    var givesFiles: Bool { get }
    /// Makes an edit of another client, of what is there.
    ///
    /// - Returns: why it can't be made; nil where it was.
    func apply(_ edit: ScenarioServerEdit) -> String?
    /// An entity as the server has it; nil when it has none.
    func record(_ key: EntityKey) -> JSONValue?
    /// An error answer in the form of this server.
    func failure(status: Int) -> TransportResponse
}

extension ScenarioServer {
    var givesFiles: Bool { false }

    /// Makes an edit of another client.
    ///
    /// - Returns: why it can't be made; nil where it was.
    func make(_ edit: ScenarioServerEdit) -> String? {
        switch edit {
        case .put: break
        case .delete(let key), .forget(let key), .archive(let key), .move(let key, _):
            guard record(key) != nil else { return "there is no \(key)" }
        }
        return apply(edit)
    }
}

/// A server that speaks Kinto's protocol.
struct KintoScenarioServer: ScenarioServer {
    static let bucket = "b"
    private let server: KintoServer

    init(_ model: SyncModel, _ clock: ManualClock) {
        server = KintoServer(bucket: Self.bucket, model: model, clock: clock)
    }

    var transport: any Transport { server }

    func apply(_ edit: ScenarioServerEdit) -> String? {
        switch edit {
        case .put(let key, let document):
            return server.refusal(putting: key.description, document.description)
        case .delete(let key), .archive(let key), .move(let key, _):
            return server.refusal(deleting: key.description)
        case .forget(let key):
            let refusal = server.refusal(deleting: key.description)
            server.withModel { $0.purgeTombstones() }
            return refusal
        }
    }

    func record(_ key: EntityKey) -> JSONValue? {
        server.record(key.description).flatMap { try? JSONValue(parsing: Array($0.utf8)) }
    }

    func failure(status: Int) -> TransportResponse {
        KintoRefusal(status, KintoAnswer.errno(status)).answer
    }
}

/// A server that speaks Toggl's protocol.
struct TogglScenarioServer: ScenarioServer {
    private let server: TogglServer
    private let clock: ManualClock

    init(_ setup: ScenarioSetup, _ clock: ManualClock) {
        var model = TogglServerModel(quotas: setup.quotas, limit: setup.limit)
        if let nextID = setup.nextID {
            model.nextID = Int64(nextID)
            model.nextEntryID = nil
        }
        server = TogglServer(model, clock: clock)
        self.clock = clock
    }

    var transport: any Transport { server }

    func apply(_ edit: ScenarioServerEdit) -> String? {
        switch edit {
        case .put(let key, let document): server.put(key.description, document.description)
        case .delete(let key): server.delete(key.description)
        case .forget(let key): server.forget(key.description)
        case .archive(let key), .move(let key, _): server.archive(key.description)
        }
        return nil
    }

    func record(_ key: EntityKey) -> JSONValue? {
        guard let kind = TogglKind(rawValue: key.collection.rawValue) else { return nil }
        let now = clock.now
        return server.withModel { model in
            model.live(kind, Int64(key.id) ?? 0).map { .object(model.wire(kind, $0, .list, now)) }
        }
    }

    func failure(status: Int) -> TransportResponse {
        TogglServerModel.error(status)
    }
}

/// A server that speaks DHIS2's protocol, to somebody who may do everything but what the scenario
/// says.
struct Dhis2ScenarioServer: ScenarioServer {
    private let server: Dhis2Server

    init(_ setup: Dhis2Setup, _ clock: ManualClock) {
        var model = Dhis2ServerModel(setup.version, users: [setup.user])
        model.acceptsAnyID = true
        model.valueRules = setup.rules
        model.jobPolls = setup.polls
        model.jobSeconds = setup.jobSeconds
        server = Dhis2Server(model, clock: clock)
    }

    var transport: any Transport { server }
    var givesFiles: Bool { true }

    func apply(_ edit: ScenarioServerEdit) -> String? {
        switch edit {
        case .put(let key, let document): server.put(key.description, document.description)
        case .delete(let key), .archive(let key), .move(let key, _):
            server.delete(key.description)
        case .forget(let key): server.forget(key.description)
        }
        return nil
    }

    func record(_ key: EntityKey) -> JSONValue? {
        server.record(key.description).flatMap { try? JSONValue(parsing: Array($0.utf8)) }
    }

    func failure(status: Int) -> TransportResponse {
        Dhis2Rejection(status, KintoAnswer.reason(status)).answer
    }
}
