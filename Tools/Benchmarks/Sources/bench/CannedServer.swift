// CannedServer.swift — a server shaped like Kinto whose answers are made before the measurement.

import Foundation
import HTTPTypes
import Synchronization
import Tidemark
import TidemarkHTTP
import TidemarkSync

/// What the device's clock shows, as a server writes it: in doubt about the time a run does less.
final class ServerDate: Sendable {
    private let last = Mutex((second: -1, text: ""))

    /// The date of an answer; made once a second.
    var text: String {
        let second = Int(Date().timeIntervalSince1970)
        return last.withLock { last in
            if last.second != second { last = (second, httpDate()) }
            return last.text
        }
    }
}

private func httpDate() -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.string(from: Date())
}

final class CannedServer: Transport {
    private static let perPage = 500
    private let pages: [[UInt8]]
    /// Makes a page where none were made before.
    private let make: @Sendable (Int) -> [UInt8]
    /// How many pages there are.
    let count: Int
    private let date = ServerDate()
    private let last: Int?
    private let asked = Mutex(0)

    /// - Parameters:
    ///   - numbers: the entities, in the order in which they are listed.
    ///   - madeBefore: whether pages are made now; else each when it is asked for, and forgotten.
    ///   - last: the page that is asked for in vain: the process dies.
    ///   - version: the version of an entity.
    init(
        _ numbers: [Int], madeBefore: Bool = true, dyingAt last: Int? = nil,
        version: @escaping @Sendable (Int) -> Int = { _ in 0 }
    ) {
        self.last = last
        make = { page in
            let start = page * Self.perPage
            let records = numbers[start..<min(start + Self.perPage, numbers.count)].map { number in
                let own = version(number)
                let document = String(
                    decoding: Workload.document(number, version: own).dropLast(), as: UTF8.self)
                return document + #","last_modified":\#(1_000_000 + own * 1_000_000 + number)}"#
            }
            return Array((#"{"data":["# + records.joined(separator: ",") + "]}").utf8)
        }
        count = Self.pages(of: numbers.count)
        pages = madeBefore ? (0..<count).map(make) : []
    }

    /// How many pages a list of so many entities has.
    static func pages(of entities: Int) -> Int { (entities + perPage - 1) / perPage }

    /// The pages that were made before.
    var bodies: [[UInt8]] { pages }
    var bytes: Int { pages.reduce(0) { $0 + $1.count } }
    /// How many pages were asked for so far.
    var pagesAsked: Int { asked.withLock(\.self) }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        var head = HTTPResponse(status: .ok)
        head.headerFields[.date] = date.text
        head.headerFields[.eTag] = "\"9000000\""
        guard path.contains("/records") else {
            let collections = #"{"data":[{"id":"time_entries","last_modified":1}]}"#
            return TransportResponse(response: head, body: Array(collections.utf8))
        }
        let number = path.split(separator: "_token=").dropFirst().first.flatMap { Int($0) } ?? 0
        asked.withLock { $0 += 1 }
        if number == last { kill(getpid(), SIGKILL) }
        if number + 1 < count, let name = HTTPField.Name("Next-Page") {
            let (list, separator) =
                path.split(separator: "_token=").first.map { list in
                    list.last == "?" || list.last == "&" ? (String(list), "") : (String(list), "&")
                } ?? (path, "?")
            head.headerFields[name] = "http://bench.test\(list)\(separator)_token=\(number + 1)"
        }
        return TransportResponse(
            response: head, body: pages.isEmpty ? make(number) : pages[number])
    }
}

/// A server shaped like Kinto on which nothing changes.
final class IdleServer: Transport {
    private let collections: [String]
    private let date = ServerDate()

    init(_ collections: [String]) { self.collections = collections }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        let isUnchanged = request.headerFields[.ifNoneMatch] != nil
        var head = HTTPResponse(status: isUnchanged ? .notModified : .ok)
        head.headerFields[.date] = date.text
        head.headerFields[.eTag] = "\"9000000\""
        let names = collections.map { #"{"id":"\#($0)","last_modified":1}"# }
        let text = path.contains("/records") ? "" : names.joined(separator: ",")
        return TransportResponse(
            response: head, body: isUnchanged ? [] : Array(#"{"data":[\#(text)]}"#.utf8))
    }
}
