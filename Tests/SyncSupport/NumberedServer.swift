// NumberedServer.swift — a server in memory that numbers its entities and knows no versions, and
// what speaks to it.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// Entities by collection and number; `at` counts the changes.
final class NumberedServer: Transport, Sendable {
    private struct State {
        var entities: [String: [String: [UInt8]]] = [:]
        var changes: [(path: String, at: Int)] = []
        var next = 13
        var at = 0
        var log: [String] = []
    }
    private let state = Mutex(State())
    /// What its devices go by.
    let clock = ManualClock()

    /// The writes so far, one line each: `POST tags`, `PUT tags/13`.
    var writes: [String] { state.withLock(\.log) }

    /// Takes note of a write that does not reach it.
    func noteLost(_ line: String) {
        if !line.hasPrefix("GET") { state.withLock { $0.log.append(line + " lost") } }
    }

    func clearWrites() { state.withLock { $0.log = [] } }

    /// An entity without its `id` and `at`, or nil.
    func document(_ path: String) -> String? {
        let parts = path.split(separator: "/").map(String.init)
        return state.withLock { $0.entities[parts[0]]?[parts[1]] }.map(NumberedDevice.plain)
    }

    /// The entities of a collection as ``document(_:)`` has them, by their ids.
    func documents(_ collection: String) -> [String] {
        let found = state.withLock { $0.entities[collection] ?? [:] }
        return found.sorted { $0.key < $1.key }.map { NumberedDevice.plain($0.value) }
    }

    func ids(_ collection: String) -> [String] {
        state.withLock { $0.entities[collection] ?? [:] }.keys.sorted()
    }

    /// What another client does; answers the id.
    @discardableResult
    func make(_ collection: String, _ json: String, id: String? = nil) -> String {
        state.withLock { state in
            let id = id ?? "\(state.next)"
            if id == "\(state.next)" { state.next += 1 }
            Self.set(&state, collection, id, Array(json.utf8))
            return id
        }
    }

    func remove(_ path: String) {
        let parts = path.split(separator: "/").map(String.init)
        state.withLock { Self.set(&$0, parts[0], parts[1], nil) }
    }

    private static func set(
        _ state: inout State, _ collection: String, _ id: String, _ body: [UInt8]?
    ) {
        state.at += 1
        state.changes.removeAll { $0.path == "\(collection)/\(id)" }
        state.changes.append(("\(collection)/\(id)", state.at))
        let number = Int(id).map { "\($0)" } ?? "\"\(id)\""
        state.entities[collection, default: [:]][id] = body.flatMap { body in
            (try? JSONDocument(parsing: body))?.applying(
                set: [("id", Array(number.utf8)), ("at", Array("\(state.at)".utf8))])
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        let parts = path.dropFirst().split { "/?=".contains($0) }.map(String.init)
        return state.withLock { state in
            func answer(_ status: Int, _ body: [UInt8] = []) -> TransportResponse {
                TransportResponse(
                    response: HTTPResponse(status: HTTPResponse.Status(code: status)), body: body)
            }
            let collection = parts[0]
            if request.method == .get {
                let since = Int(parts.last ?? "") ?? 0
                var items: [String] = []
                for change in state.changes where change.at > since {
                    let pair = change.path.split(separator: "/").map(String.init)
                    guard pair[0] == collection else { continue }
                    let bytes = state.entities[collection]?[pair[1]]
                    items.append(
                        bytes.map { String(decoding: $0, as: UTF8.self) }
                            ?? #"{"id":\#(pair[1]),"gone":true}"#)
                }
                let list = items.joined(separator: ",")
                return answer(200, Array(#"{"at":\#(state.at),"items":[\#(list)]}"#.utf8))
            }
            state.log.append("\(request.method.rawValue) \(path.dropFirst())")
            var id = "\(state.next)"
            if request.method == .post {
                state.next += 1
            } else {
                id = parts[1]
                let isMade = parts.count > 2
                guard isMade || state.entities[collection]?[id] != nil else { return answer(404) }
            }
            Self.set(&state, collection, id, request.method == .delete ? nil : body ?? [])
            return answer(200, state.entities[collection]?[id] ?? [])
        }
    }
}

/// Speaks to a ``NumberedServer``.
struct NumberedAdapter: ServerAdapter {
    var traits: ServerTraits { ServerTraits(hasVersions: false) }
    /// Whether answers to writes say not how the entity is now.
    var hidesStored = false
    /// Whether lists say not where a later one goes on.
    var hidesCursor = false

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard let name = call.collection?.name else { throw .client(status: 0, "no such call") }
        switch call {
        case .list(_, let after, _):
            return ServerRequest(method: .get, path: "/\(name)?since=\(after?.description ?? "0")")
        case .create(let collection, let id, let body) where collection.ids == .client:
            return ServerRequest(method: .put, path: "/\(name)/\(id)?made", body: body)
        case .create(_, _, let body):
            return ServerRequest(method: .post, path: "/\(name)", body: body)
        case .update(_, let id, let body, _, _):
            return ServerRequest(method: .put, path: "/\(name)/\(id)", body: body)
        case .delete(_, let id, _):
            return ServerRequest(method: .delete, path: "/\(name)/\(id)")
        default: throw .client(status: 0, "no such call")
        }
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let status = response.status.code
        switch (call, status) {
        case (.list, 200): return page(body)
        case (.delete(_, let id, _), 200):
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case (.delete, 404): return .absent
        case (.create, 200), (.update, 200):
            guard let record = record(body) else { return .failure(.malformed("no id")) }
            return hidesStored ? .stored(id: record.id, nil) : .record(record)
        case (.create, 400...404), (.update, 400...404), (.delete, 400...404):
            return .refused(ServerRefusal(status: status, message: "no"))
        default: return .failure(SyncFailure(status: status))
        }
    }

    private func record(_ bytes: [UInt8]) -> ServerRecord? {
        guard let document = try? JSONDocument(parsing: bytes),
            let id = document.value("id")?.idText
        else { return nil }
        let isGone = document.value("gone") != nil
        return ServerRecord(id: id, revision: nil, document: isGone ? nil : bytes)
    }

    private func page(_ body: [UInt8]) -> ServerAnswer {
        guard let list = try? JSONDocument(parsing: body), let at = list.value("at")?.idText,
            let items = try? JSON.arrayElements(of: body, at: "items")
        else { return .failure(.malformed("no list")) }
        return .page(
            ListPage(
                records: items.compactMap { record(Array(body[$0])) }, next: nil,
                cursor: hidesCursor ? nil : Revision(at)))
    }
}
