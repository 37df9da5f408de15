// Dhis2RemedyTests.swift — for which answers the glass is broken, by what is known here.

import Foundation
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `what DHIS2's adapter does about a refusal` {
    private let enrollments = CollectionModel("enrollments", idField: "enrollment")
    private let events = CollectionModel("events", idField: "event")
    private let people = CollectionModel("trackedEntities", idField: "trackedEntity")

    private func document(_ text: String) -> JSONDocument? {
        try? JSONDocument(parsing: Array(text.utf8))
    }

    /// What is here: a program, an enrollment of `T1` in it, and what was asked for before.
    private func remedy(
        _ version: String, _ answer: ServerAnswer, _ call: ServerCall, level: String = "PROTECTED",
        reason: String? = "visit", in program: String = "P1", knows: Bool = true
    ) throws -> ServerRemedy? {
        let field = version < "2.40" ? "trackedEntityInstance" : "trackedEntity"
        return try #require(Dhis2Adapter(version: version)).remedy(
            for: answer, to: call,
            { key in
                switch "\(key)" {
                case "programs/P1": document(#"{"id":"P1","accessLevel":"\#(level)"}"#)
                case "enrollments/E1" where knows:
                    document(#"{"enrollment":"E1","program":"P1","\#(field)":"T1"}"#)
                default: nil
                }
            },
            asked: { key, action in
                "\(key) \(action)" == "trackedEntities/T1 override"
                    ? reason.map { ["program": program, "reason": $0] } : nil
            })
    }

    private func refused(_ code: String?, _ message: String = "no") -> ServerAnswer {
        .refused(
            ServerRefusal(
                status: 409, message: message,
                issues: [
                    ServerIssue(.error, code: "E1020", "a date"),
                    ServerIssue(.error, code: code, message),
                ]))
    }

    private var enrollment: ServerCall {
        .delete(enrollments, id: "E1", revision: Revision(""))
    }

    private var event: ServerCall {
        .create(
            events, id: "V1", body: Array(#"{"event":"V1","enrollment":"E1"}"#.utf8))
    }

    private func override(_ reason: String, isAsked: Bool = true) -> ServerRemedy {
        ServerRemedy(
            "override", of: EntityKey("trackedEntities", "T1"),
            parameters: ["program": "P1", "reason": "Tidemark sync: \(reason)"],
            isAsked: isAsked)
    }

    @Test func `from 2.40 on by the codes of an enrollment and of an event`() throws {
        #expect(try remedy("2.40", refused("E1102"), enrollment) == override("visit"))
        #expect(try remedy("2.41", refused("E1000"), event) == override("visit"))
        #expect(try remedy("2.41", refused("E1000"), enrollment) == nil)
        #expect(try remedy("2.41", refused("E1102"), event) == nil)
        #expect(try remedy("2.41", refused(nil), event) == nil)
    }

    @Test func `up to 2.39 by what is left out, and by words`() throws {
        #expect(try remedy("2.37", .ignored(), enrollment) == override("visit"))
        let words = refused(nil, "[OWNERSHIP_ACCESS_DENIED]")
        #expect(try remedy("2.37", words, event) == override("visit"))
        #expect(try remedy("2.37", refused("E1102"), enrollment) == nil)
        #expect(try remedy("2.41", words, event) == nil)
    }

    @Test func `what was left alone beside it goes along, and asks for nothing`() throws {
        #expect(try remedy("2.37", .ignored(), event) == override("visit", isAsked: false))
        #expect(try remedy("2.41", .ignored(), event) == override("visit", isAsked: false))
        #expect(
            try remedy("2.41", .ignored(), enrollment) == override("visit", isAsked: false))
    }

    @Test func `tells that no reason is known where none is`() throws {
        let none = "no reason was given on this device"
        #expect(try remedy("2.41", refused("E1000"), event, reason: nil) == override(none))
        #expect(
            try remedy("2.41", refused("E1000"), event, in: "P9") == override(none),
            "the reason of another program is none of this one")
    }

    @Test(arguments: ["OPEN", "AUDITED", "CLOSED", ""])
    func `only in a protected program`(_ level: String) throws {
        #expect(try remedy("2.41", refused("E1000"), event, level: level) == nil)
    }

    @Test func `only where the enrollment is known, and only of what is in one`() throws {
        #expect(try remedy("2.41", refused("E1000"), event, knows: false) == nil)
        let person = ServerCall.delete(people, id: "T1", revision: Revision(""))
        #expect(try remedy("2.41", refused("E1102"), person) == nil)
        let action = ServerCall.perform(people, id: "T1", action: "transfer", parameters: [:])
        #expect(try remedy("2.41", refused("E1102"), action) == nil)
        #expect(try remedy("2.41", .conflictUnknown, event) == nil)
    }
}
