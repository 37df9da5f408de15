// TreeServer.swift — a server whose answers a test writes: lists of parts of collections, in pages,
// of records that hold others.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// Answers each path as a test says; a list that nobody wrote did not change, and a record that
/// nobody wrote is not there.
final class TreeServer: Transport, Sendable {
    private struct State {
        var answers: [String: (status: Int, body: String)] = [:]
        var requests: [String] = []
    }
    private let state = Mutex(State())
    let clock: ManualClock

    init(_ clock: ManualClock = ManualClock()) { self.clock = clock }

    /// What was asked since this was asked last: `visits?program=P1`.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Answers a path with a page of records.
    func list(_ path: String, _ items: [String], cursor: String = "c1", next: String? = nil) {
        let next = next.map { #","next":"\#($0)""# } ?? ""
        let list = items.joined(separator: ",")
        answer(path, 200, #"{"cursor":"\#(cursor)"\#(next),"items":[\#(list)]}"#)
    }

    func answer(_ path: String, _ status: Int, _ body: String = "") {
        state.withLock { $0.answers[path] = (status, body) }
    }

    func forget(_ path: String) { state.withLock { $0.answers[path] = nil } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = String((request.path ?? "").dropFirst())
        let isWrite = request.method != .get
        let answer = state.withLock { state in
            state.requests.append(isWrite ? "\(request.method.rawValue) \(path)" : path)
            return state.answers[path]
        }
        let isRecord = path.contains("/")
        let (status, text) = answer ?? (isWrite ? 200 : isRecord ? 404 : 304, "")
        let fields: HTTPFields = [.date: HTTPDate.text(clock.now)]
        return TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: Array((isWrite ? String(decoding: body ?? [], as: UTF8.self) : text).utf8))
    }
}

/// What such a server speaks.
struct TreeAdapter: ServerAdapter {
    /// Whether it lists parts, and by which parameters.
    var parameters: Set<String>? = ["program", "orgUnit", "mode"]

    var traits: ServerTraits {
        ServerTraits(hasVersions: false, hasListParameters: parameters != nil)
    }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard let name = call.collection?.name else { throw .client(status: 0, "no such call") }
        switch call {
        case .list(_, let after, let page): return get(name, [], after, page)
        case .listPart(_, let parts, let after, let page):
            if let other = parts.all.first(where: { parameters?.contains($0.name) != true }) {
                throw .client(status: 0, "the server lists by no \"\(other.name)\"")
            }
            return get(name, parts.all.map { "\($0.name)=\($0.value)" }, after, page)
        case .read(_, let id): return ServerRequest(method: .get, path: "/\(name)/\(id)")
        case .create(_, let id, let body), .update(_, let id, let body, _, _):
            return ServerRequest(method: .put, path: "/\(name)/\(id)", body: body)
        case .delete(_, let id, _): return ServerRequest(method: .delete, path: "/\(name)/\(id)")
        default: throw .client(status: 0, "no such call")
        }
    }

    private func get(
        _ name: CollectionName, _ parts: [String], _ after: Revision?, _ page: String?
    ) -> ServerRequest {
        let more = [after.map { "after=\($0)" }, page.map { "page=\($0)" }].compactMap(\.self)
        let query = (parts + more).joined(separator: "&")
        return ServerRequest(method: .get, path: "/\(name)" + (query.isEmpty ? "" : "?\(query)"))
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let status = response.status.code
        switch (call, status) {
        case (.list, 304), (.listPart, 304): return .unchanged
        case (.list, 200), (.listPart, 200): return page(body)
        case (.read, 404), (.delete, 404): return .absent
        case (.delete(_, let id, _), 200):
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case (.read, 200), (.create, 200), (.update, 200):
            guard case .success(let record) = Self.read(body) else {
                return .failure(.malformed("no id"))
            }
            return .record(record)
        default: return .failure(SyncFailure(status: status))
        }
    }

    private func page(_ body: [UInt8]) -> ServerAnswer {
        guard let list = try? JSONDocument(parsing: body),
            let items = try? JSON.arrayElements(of: body, at: "items")
        else { return .failure(.malformed("no list")) }
        var page = ListPage(
            records: [], next: list.value("next")?.stringValue,
            cursor: list.value("cursor")?.stringValue.map { Revision($0) })
        for item in items {
            switch Self.read(Array(body[item])) {
            case .success(let record): page.records.append(record)
            case .failure(let problem): page.unreadable.append(problem.record)
            }
        }
        return .page(page)
    }

    /// The members in which records hold others.
    private static let holders = ["visits", "tests"]

    private struct Misfit: Error {
        let record: UnreadableRecord
    }

    private static func read(_ bytes: [UInt8]) -> Result<ServerRecord, Misfit> {
        guard let document = try? JSONDocument(parsing: bytes),
            let id = document.value("id")?.idText
        else {
            let record = UnreadableRecord(
                id: nil, bytes: bytes, problem: "a record without an id")
            return .failure(Misfit(record: record))
        }
        var record = ServerRecord(
            id: id, revision: nil, parsed: document,
            isDeleted: document.value("deleted") == .bool(true))
        for member in holders {
            guard let items = (try? JSON.arrayElements(of: bytes, at: member)) ?? nil else {
                continue
            }
            var held = EmbeddedRecords(member, records: [])
            for item in items {
                switch read(Array(bytes[item])) {
                case .success(let inner): held.records.append(inner)
                case .failure(let problem): held.unreadable.append(problem.record)
                }
            }
            record.children.append(held)
        }
        return .success(record)
    }

    /// What has the id "hidden" might not be shown by a list, and what is of another list is not.
    func shows(
        _ child: JSONDocument, of collection: CollectionModel, in list: ListParameters,
        _ document: (EntityKey) -> JSONDocument?
    ) -> Bool { child.value("id") != "hidden" && list.mayHold(child) }
}

extension TreeServer: DeviceServer {
    typealias Wire = TreeServer

    static var serverFields: [String] { ["id"] }

    var remote: Remote { Remote(origin: "http://tree.test", adapter: "tree") }

    func makeAdapter() throws -> any ServerAdapter { TreeAdapter() }
}

typealias TreeDevice = Device<TreeServer>

extension TreeDevice {
    /// A device for the time of a test; what it made is proved at the end.
    static func with(
        _ model: SyncModel, _ server: TreeServer, _ body: (TreeDevice) async throws -> Void
    ) async throws {
        let device = try TreeDevice(
            of: server, over: server, model: model,
            dependencies: .seeded(1, clock: server.clock, movesClock: true))
        try await device.lendAndVerify(body)
    }
}
