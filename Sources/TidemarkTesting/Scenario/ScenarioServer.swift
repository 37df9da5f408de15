// ScenarioServer.swift — the servers that a scenario can name, each with its adapter.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// The kinds of servers.
enum ScenarioServerKind: String, Sendable, CaseIterable {
    case kinto

    /// Where it is, and what it speaks.
    var remote: Remote {
        switch self {
        case .kinto: .kinto(origin: "http://server.test", bucket: KintoScenarioServer.bucket)
        }
    }

    /// The edits of other clients that it knows beside `put`.
    var edits: [String] {
        switch self {
        case .kinto: ["delete", "forget"]
        }
    }

    /// Whether it gives new entities their numbers.
    var numbersEntities: Bool {
        switch self {
        case .kinto: false
        }
    }

    /// Whether it may be told to refuse too many requests.
    var hasLimits: Bool { numbersEntities }

    /// The id of the one entity of a collection whose rows carry none.
    func id(of collection: CollectionName) -> String? { nil }

    /// A server of the kind.
    func make(
        _ model: SyncModel, _ setup: ScenarioSetup, _ clock: ManualClock
    ) -> any ScenarioServer {
        switch self {
        case .kinto: KintoScenarioServer(model, clock)
        }
    }
}

/// What a scenario asks of a server in memory.
protocol ScenarioServer: Sendable {
    var transport: any Transport { get }
    /// What another client does.
    func apply(_ edit: ScenarioServerEdit)
    /// An entity as the server has it; nil when it has none.
    func record(_ key: EntityKey) -> JSONValue?
    /// The answer that says that something is wrong, as such a server writes it.
    func failure(status: Int) -> TransportResponse
}

/// A server that speaks Kinto.
struct KintoScenarioServer: ScenarioServer {
    static let bucket = "b"
    private let server: InMemoryServer

    init(_ model: SyncModel, _ clock: ManualClock) {
        server = InMemoryServer(bucket: Self.bucket, model: model, clock: clock)
    }

    var transport: any Transport { server }

    func apply(_ edit: ScenarioServerEdit) {
        switch edit {
        case .put(let key, let document): server.put(key.description, document.description)
        case .delete(let key), .archive(let key): server.delete(key.description)
        case .forget(let key):
            server.delete(key.description)
            server.withModel { $0.purgeTombstones() }
        }
    }

    func record(_ key: EntityKey) -> JSONValue? {
        server.record(key.description).flatMap { try? JSONValue(parsing: Array($0.utf8)) }
    }

    func failure(status: Int) -> TransportResponse {
        KintoRefusal(status, KintoAnswer.errno(status)).answer
    }
}
