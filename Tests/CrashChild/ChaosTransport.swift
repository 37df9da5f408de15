// ChaosTransport.swift — a bad network in front of a real server: lost and late requests, lost and
// mangled answers, and servers that turn work away before or after they did it.

import Foundation
import HTTPTypes
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkSync

/// What happens to one exchange.
private enum ChaosWeather {
    case fine
    // Before the server sees the request.
    case offline, lostRequest, late, turnedAway, contended
    // After the server did its work.
    case lostAnswer, turnedAwayAfter, truncated, page, gatewayFailed
}

/// Three records about which every call fails in bad weather, unless it is one of many in a batch.
private enum ChaosBroken {
    /// The server fails, and does nothing.
    case fails
    /// Nobody may read it; nor write it, which is the server's own word where it has permissions
    /// of single records.
    case isForbidden
    /// What is asked is done, and no answer comes.
    case neverAnswers

    init?(_ record: String?) {
        switch record {
        case "lists/cold-1": self = .fails
        case ChaosEdit.closed: self = .isForbidden
        case "tasks/cold-3": self = .neverAnswers
        default: return nil
        }
    }
}

/// Sends over the network, as far as chance allows.
final class ChaosTransport: Transport {
    private let fate: ChaosFate
    private let delayed: ChaosDelayed
    private let replica: Replica
    private let user: String
    private let form: ChaosEdit.Form
    private let writes: ChaosWrites
    /// Whether a proxy stands before this user that compresses, and so makes versions weak; where
    /// writes name versions of that kind nothing could be written.
    private var compresses: Bool { form == .fields && user.utf8.reduce(0, ^) % 2 == 0 }

    /// - Parameters:
    ///   - store: the replica's store; what is delayed lies beside it, and what was written too.
    ///   - user: who the replica is to the server.
    init(
        _ fate: ChaosFate, _ store: String, _ replica: Replica, user: String,
        _ form: ChaosEdit.Form
    ) {
        self.fate = fate
        self.replica = replica
        self.user = user
        self.form = form
        delayed = ChaosDelayed(folder: store + "-delayed")
        writes = ChaosWrites(
            folder: URL(filePath: store).deletingLastPathComponent().path(percentEncoded: false))
    }

    /// Lets one request arrive that was given up long ago; false when there is none.
    ///
    /// Nobody waits for its answer any more.
    func deliverDelayed() async throws -> Bool {
        guard let request = try delayed.take() else { return false }
        _ = try exchange(request.head, request.bytes)
        return true
    }

    /// The network behind the weather: always fine.
    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8]?
    ) throws(TransportError) -> TransportResponse {
        let answer: PlainHTTP
        do {
            answer = try fate.surviving { try reach(request, body) }
        } catch { throw TransportError(.connectionLost, detail: "\(error)") }
        var head = HTTPResponse(status: .init(code: answer.status))
        for field in answer.fields {
            if let name = HTTPField.Name(field.name) { head.headerFields[name] = field.value }
        }
        // The server's clock goes with the replica's, whose time passes as it is told.
        if head.headerFields[.date] != nil { head.headerFields[.date] = HTTPDate.text(fate.now) }
        if compresses, let tag = head.headerFields[.eTag] { head.headerFields[.eTag] = "W/" + tag }
        return TransportResponse(response: head, body: answer.body)
    }

    /// Sends, and writes down what was written.
    private func reach(_ request: HTTPRequest, _ body: [UInt8]?) throws -> PlainHTTP {
        let (method, path) = (request.method.rawValue, request.path ?? "")
        let answer = try PlainHTTP(
            method, authority: request.authority ?? "", path: path,
            fields: request.headerFields.map { ($0.name.rawName, $0.value) },
            body: form == .fields ? permitting(request, body) : body)
        if request.isWrite {
            try writes.append(ChaosWrite(user: user, method, path, body, answer))
        }
        return answer
    }

    /// Lets everybody write the records that a request makes, in bad weather all but one.
    private func permitting(_ request: HTTPRequest, _ body: [UInt8]?) -> [UInt8]? {
        guard let body, request.isWrite,
            var object = (try? JSONValue(parsing: body))?.object
        else { return body }
        func permit(_ object: inout JSONObject, _ path: String?, _ precondition: String?) {
            guard precondition == "*", let record = record(path ?? ""),
                record != ChaosEdit.closed || fate.isFine
            else { return }
            object["permissions"] = ["write": ["system.Authenticated"]]
        }
        guard let parts = object["requests"]?.array else {
            permit(&object, request.path, request.headerFields[.ifNoneMatch])
            return JSONValue.object(object).encoded()
        }
        object["requests"] = .array(
            parts.map { part in
                guard var whole = part.object, var inner = part["body"]?.object else {
                    return part
                }
                permit(
                    &inner, part["path"]?.stringValue,
                    part["headers"]?["If-None-Match"]?.stringValue)
                whole["body"] = .object(inner)
                return .object(whole)
            })
        return JSONValue.object(object).encoded()
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        if fate.isQuiet { fate.say("wrong: \(request.method) inside a Retry-After") }
        let isWrite = request.isWrite
        if isWrite, request.headerFields[.ifMatch] == nil,
            request.headerFields[.ifNoneMatch] == nil,
            request.path?.hasSuffix("/batch") != true
        {
            fate.say("wrong: \(request.method) without a precondition")
        }
        fate.reach(.leaving)
        if let broken = ChaosBroken(record(request, body)), !fate.isFine,
            broken != .isForbidden || !isWrite || form == .items
        {
            return try spoil(broken, request, body)
        }
        try await meanwhile(record(request, body), mayYield: isWrite ? 40 : 8)
        switch before(isWrite) {
        case .offline: throw TransportError(.offline)
        case .lostRequest: throw TransportError(.connectionLost)
        case .late:
            do { try delayed.keep(request, body) } catch { CrashChild.fail("\(error)") }
            throw TransportError(.timeout)
        case .turnedAway: return turnedAway(503)
        case .contended: return turnedAway(form == .items ? 503 : 409, always: true)
        default: break
        }
        var answer = try exchange(request, body)
        fate.reach(.handled)
        try await meanwhile(record(request, body), mayYield: isWrite ? 15 : 8)
        switch after() {
        case .lostAnswer: throw TransportError(.timeout)
        case .turnedAwayAfter: return turnedAway(503)
        // Half an item is nothing that its end would be missed of, but by HTTP.
        case .truncated where form == .items: throw TransportError(.connectionLost)
        case .truncated: answer.body.removeLast(answer.body.count / 2)
        case .page: answer.body = Array("<html><body>Log in</body></html>".utf8)
        case .gatewayFailed:
            return TransportResponse(
                response: HTTPResponse(status: .badGateway), body: Array("<h1>502</h1>".utf8))
        default: break
        }
        return answer
    }

    /// What comes of a call that always fails in bad weather.
    private func spoil(
        _ broken: ChaosBroken, _ request: HTTPRequest, _ body: [UInt8]?
    ) throws(TransportError) -> TransportResponse {
        switch broken {
        case .fails: return Self.refused(.internalServerError, errno: 999)
        case .isForbidden: return Self.refused(.forbidden, errno: 121)
        case .neverAnswers:
            _ = try exchange(request, body)
            fate.reach(.handled)
            throw TransportError(.timeout)
        }
    }

    private static func refused(_ status: HTTPResponse.Status, errno: Int) -> TransportResponse {
        let text = #"{"code":\#(status.code),"errno":\#(errno),"error":"no"}"#
        return TransportResponse(
            response: HTTPResponse(
                status: status, headerFields: [.contentType: "application/json"]),
            body: Array(text.utf8))
    }

    private func before(_ isWrite: Bool) -> ChaosWeather {
        switch fate.dice {
        case 0..<2: .offline
        case 2..<4: .lostRequest
        case 4..<9: .turnedAway
        case 9..<15 where isWrite: .late
        case 15..<16 where isWrite: .contended
        default: .fine
        }
    }

    private func after() -> ChaosWeather {
        switch fate.dice {
        case 0..<5: .lostAnswer
        case 5..<9: .turnedAwayAfter
        case 9..<11: .truncated
        case 11..<12: .page
        case 12..<13: .gatewayFailed
        default: .fine
        }
    }

    /// An answer by someone before the server, mostly with the time to wait.
    private func turnedAway(_ status: Int, always: Bool = false) -> TransportResponse {
        var fields: HTTPFields = [.contentType: "application/json"]
        if always || fate.below(3) > 0 {
            let seconds = fate.below(30)
            fields[.retryAfter] = "\(seconds)"
            fate.hush(seconds: seconds)
        }
        let text = #"{"code":\#(status),"errno":201,"error":"not now"}"#
        return TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: Array(text.utf8))
    }

    /// While a request is under way: old ones arrive, the user edits, others do something.
    private func meanwhile(
        _ record: String?, mayYield percent: Int
    ) async throws(TransportError) {
        do {
            switch fate.dice {
            case 0..<8: _ = try await deliverDelayed()
            case 8..<20: try fate.edit(replica, form)
            case 20..<20 + percent: fate.yield(about: record)
            default: break
            }
        } catch { CrashChild.fail("meanwhile: \(error)") }
    }
}

extension HTTPRequest {
    fileprivate var isWrite: Bool { [.put, .post, .patch, .delete].contains(method) }
}

/// `collection/id` of the record that a request is about: of a batch, the first.
private func record(_ request: HTTPRequest, _ body: [UInt8]?) -> String? {
    var path = request.path ?? ""
    if path.hasSuffix("/batch") {
        let batch = body.flatMap { try? JSONValue(parsing: $0) }
        path = batch?["requests"]?.array?.first?["path"]?.stringValue ?? ""
    }
    return record(path)
}

/// `collection/id` of the record that an address names.
private func record(_ path: String) -> String? {
    let names = path.prefix { $0 != "?" }.split(separator: "/").suffix(3)
    if let name = names.last, names.count == 3, name.hasSuffix(".ics") {
        return names.dropFirst().joined(separator: "/").dropLast(".ics".count).description
    }
    guard names.count == 3, names.dropFirst().first == "records", let collection = names.first,
        let id = names.last
    else { return nil }
    return "\(collection)/\(id)"
}

/// Requests that are still somewhere in the network: they outlive the process that sent them.
private struct ChaosDelayed {
    let folder: String

    struct Request: Codable {
        var method: String
        var authority: String
        var path: String
        var fields: [String: String]
        var body: String?

        var head: HTTPRequest {
            var head = HTTPRequest(
                method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: authority,
                path: path)
            for (name, value) in fields {
                if let name = HTTPField.Name(name) { head.headerFields[name] = value }
            }
            return head
        }
        var bytes: [UInt8]? { body.map { Array($0.utf8) } }
    }

    func keep(_ head: HTTPRequest, _ body: [UInt8]?) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var request = Request(
            method: head.method.rawValue, authority: head.authority ?? "", path: head.path ?? "",
            fields: [:], body: body.map { String(decoding: $0, as: UTF8.self) })
        for field in head.headerFields { request.fields[field.name.rawName] = field.value }
        let number = try files.contentsOfDirectory(atPath: folder).compactMap { Int($0) }.max() ?? 0
        // The process may be killed meanwhile: there is a whole one then, or none.
        try JSONEncoder().encode(request).write(
            to: URL(filePath: "\(folder)/\(number + 1)"), options: .atomic)
    }

    /// The oldest one, once.
    func take() throws -> Request? {
        let files = FileManager.default
        guard files.fileExists(atPath: folder),
            let number = try files.contentsOfDirectory(atPath: folder).compactMap({ Int($0) }).min()
        else { return nil }
        let file = "\(folder)/\(number)"
        let data = try Data(contentsOf: URL(filePath: file))
        try files.removeItem(atPath: file)
        return try JSONDecoder().decode(Request.self, from: data)
    }
}
