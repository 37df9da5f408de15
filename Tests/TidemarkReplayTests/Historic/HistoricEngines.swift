// HistoricEngines.swift — bugs in what an engine did: the same answers, other requests and commits.

import HTTPTypes
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport

extension HistoricBug {
    /// Where a list goes on was stored before what the list had brought.
    static let cursorApart = HistoricBug(
        name: "cursor-committed-apart-from-data", found: .deciding,
        log: {
            let log = try await NotesDay.log { day in
                day.server.put("notes/n6", #"{"title":"from elsewhere"}"#)
                day.server.put("notes/n7", #"{"title":"from elsewhere, too"}"#)
                try await day.sync()
            }
            return try log.withCursorFirst(at: "n6")
        },
        recorded: { try $0.refolded() },
        isCulprit: { $0.kind == .pullCompleted && $0.collection == "notes" })

    /// The date that a list asked after was taken from the device's clock.
    static let deviceClock = HistoricBug(
        name: "since-date-from-the-device-clock", found: .deciding,
        log: {
            try await TogglDay.log({ ByDeviceClock(clock: $0) }) { day in
                // Somebody sets the device's clock forward by an hour, and another device changes
                // something.
                day.clock.adjust(by: .seconds(3600))
                try await day.sync()
                day.server.put("tags/77", #"{"workspace_id":1,"name":"never seen here"}"#)
                try await day.sync()
            }
        },
        recorded: { try $0.refolded() },
        isCulprit: { $0.kind == .requestSent && $0.payload.contains(text: "?since=") })

    /// What says that an entity is deleted was looked for under another name than the server's.
    static let tombstoneUnread = HistoricBug(
        name: "tombstone-under-another-name", found: .deciding,
        log: {
            try await TogglDay.log({ _ in ByAnotherName() }) { day in
                day.server.put("tags/77", #"{"workspace_id":1,"name":"for a day"}"#)
                try await day.sync()
                day.server.delete("tags/77")
                try await day.sync()
            }
        },
        recorded: { try $0.refolded() },
        isCulprit: { $0.kind == .serverUpserted && $0.payload.contains(text: "removed_at") })
}

/// An adapter that reads another member than the server writes, as one may that was written from
/// an outdated page.
private struct ByAnotherName: ServerAdapter {
    let adapter = TogglAdapter()

    var traits: ServerTraits { adapter.traits }
    var words: ServerWords { adapter.words }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        try adapter.request(for: call)
    }

    func group(of call: ServerCall) -> RequestGroup? { adapter.group(of: call) }

    func refusal(of call: ServerCall) -> ServerRefusal? { adapter.refusal(of: call) }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let text = String(decoding: body, as: UTF8.self)
        let other = text.replacing("\"deleted_at\"", with: "\"removed_at\"")
        return adapter.answer(to: call, response, body: Array(other.utf8))
    }
}

/// An adapter that asks after what changed since now, as the device's clock has it.
private struct ByDeviceClock: ServerAdapter {
    let adapter = TogglAdapter()
    let clock: ManualClock

    var traits: ServerTraits { adapter.traits }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        var request = try adapter.request(for: call)
        if let query = request.path.firstRange(of: "?since=") {
            let now = clock.now.milliseconds / 1000
            request.path.replaceSubrange(query.upperBound..., with: String(now))
        }
        return request
    }

    func group(of call: ServerCall) -> RequestGroup? { adapter.group(of: call) }

    func refusal(of call: ServerCall) -> ServerRefusal? { adapter.refusal(of: call) }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        adapter.answer(to: call, response, body: body)
    }
}

extension [UInt8] {
    fileprivate func contains(text: String) -> Bool {
        String(decoding: self, as: UTF8.self).contains(text)
    }
}

extension Capsule {
    /// The log of an engine that stores where a list goes on in a commit of its own, before what
    /// the list brought.
    ///
    /// - Parameter id: an entity that the list brings.
    fileprivate func withCursorFirst(at id: String) throws -> Capsule {
        var log = self
        for (index, commit) in commits.enumerated() {
            guard commit.entries.contains(where: { $0.event.entity == id }),
                let cursor = commit.entries.first(where: { $0.event.kind == .pullCompleted })
            else { continue }
            let isNews: (Entry) -> Bool = {
                [.serverUpserted, .pullPage].contains($0.event.kind)
            }
            let head = commit.entries.filter { !isNews($0) && $0 != cursor } + [cursor]
            let news = commit.entries.filter(isNews)
            let positions = commit.entries.map(\.position)
            var moved: [Position: Position] = [:]
            for (entry, position) in zip(head + news, positions) {
                moved[entry.position] = position
            }
            let written = zip(head + news, positions).map { entry, position in
                Entry(position: position, event: entry.event.naming(moved))
            }
            log.commits.replaceSubrange(
                index...index,
                with: [
                    Commit(entries: Array(written.prefix(head.count)), views: []),
                    Commit(entries: Array(written.dropFirst(head.count)), views: []),
                ])
            return log
        }
        return log
    }
}

extension Event {
    /// A page that names its events by the positions that they have now.
    fileprivate func naming(_ moved: [Position: Position]) -> Event {
        guard kind == .pullPage, case .object(var page)? = try? JSONValue(parsing: payload),
            case .array(let places)? = page["at"]
        else { return self }
        page["at"] = .array(
            places.map { place in
                guard let number = place.int64Value, let place = moved[Position(UInt64(number))]
                else { return .string("=") }
                return .number(JSONNumber(place.rawValue))
            })
        var event = self
        event.payload = JSONValue.object(page).encoded()
        return event
    }
}
