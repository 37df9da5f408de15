// ProbeInput.swift — the fixed input of the probe: the same documents, times, ids and answers in
// every run.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// The entries as an app decodes them.
struct ProbeEntry: Entity {
    static let collection = ProbeInput.collection
    static let fields: FieldNames<ProbeEntry> = [\.project: "project_id", \.start: "start"]

    let id: Tidemark.ID<ProbeEntry>
    var project: Int
    var description: String
    var start: String
    var duration: Int
    var billable: Bool
    var tags: [String]

    enum CodingKeys: String, CodingKey {
        case id, description, start, duration, billable, tags
        case project = "project_id"
    }
}

enum ProbeInput {
    static let collection: CollectionName = "time_entries"
    static let remote = Remote.kinto(origin: "http://probe.test", bucket: "b")

    static var model: SyncModel {
        let entries = CollectionModel(collection, indexes: [["project_id"]])
        var model = SyncModel(name: "probe", collections: [entries])
        model.settings.answers = .none
        return model
    }

    /// A clock that goes on by a millisecond each time it is read, and ids and numbers that count.
    static func dependencies() -> Dependencies {
        let ticks = Counter()
        var dependencies = Dependencies(
            now: { Timestamp(rawValue: 1_795_000_000_000_000 + ticks.next() * 1000) },
            makeID: { "id-\(ticks.next())" },
            random: { UInt64(ticks.next()) &* 0x9E37_79B9_7F4A_7C15 },
            uptime: { Uptime(bootID: "boot", microseconds: ticks.next() * 1000) },
            sleep: { _ in })
        // Valgrind has not as much address space as a store takes elsewhere.
        dependencies.mapBytes = 4 << 30
        return dependencies
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int64>(0)

        func next() -> Int64 { count.add(1, ordering: .relaxed).newValue }
    }

    /// An id that sorts by its number.
    static func id(_ number: Int) -> String { "te-" + padded(number, 9) }

    /// A time entry of about 300 bytes.
    static func document(_ number: Int, version: Int = 0, isListed: Bool = false) -> [UInt8] {
        let day = padded(number % 28 + 1, 2)
        let modified = isListed ? #","last_modified":\#(1_000_000 + number)"# : ""
        let text =
            #"{"id":"\#(id(number))","workspace_id":\#(1_000_000 + number % 7),"#
            + #""project_id":\#(2_000_000 + number % 100),"task_id":null,"#
            + #""user_id":\#(3_000_000 + number % 5),"#
            + #""description":"Work on item \#(number), revision \#(version)","#
            + #""start":"2026-11-\#(day)T08:30:00Z","stop":"2026-11-\#(day)T09:45:00Z","#
            + #""duration":4500,"billable":\#(number % 2 == 0),"tags":["deep work","client"],"#
            + #""created_with":"probe","at":"2026-11-\#(day)T09:45:00Z""# + modified + "}"
        return Array(text.utf8)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// A server shaped like Kinto that lists entities in pages which were made before.
struct ProbeServer: Transport {
    static let perPage = 250
    private let pages: [[UInt8]]

    init(entities count: Int) {
        pages = stride(from: 0, to: count, by: Self.perPage).map { start in
            var page = Array(#"{"data":["#.utf8)
            for number in start..<min(start + Self.perPage, count) {
                if number > start { page.append(UInt8(ascii: ",")) }
                page += ProbeInput.document(number, isListed: true)
            }
            return page + Array("]}".utf8)
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        var head = HTTPResponse(status: .ok)
        head.headerFields[.date] = "Wed, 18 Nov 2026 14:26:40 GMT"
        head.headerFields[.eTag] = "\"9000000\""
        guard path.contains("/records") else {
            let collections = #"{"data":[{"id":"time_entries","last_modified":1}]}"#
            return TransportResponse(response: head, body: Array(collections.utf8))
        }
        let parts = path.split(separator: "_token=")
        let page = parts.dropFirst().first.flatMap { Int($0) } ?? 0
        if page + 1 < pages.count, let name = HTTPField.Name("Next-Page"), let list = parts.first {
            let separator = list.hasSuffix("?") || list.hasSuffix("&") ? "" : "&"
            head.headerFields[name] = "http://probe.test\(list)\(separator)_token=\(page + 1)"
        }
        return TransportResponse(response: head, body: pages[page])
    }
}
