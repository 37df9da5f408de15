// OlderModelTests.swift — models as earlier versions spelled them.

import Testing
import TidemarkEvents

private func parse(_ text: String, isLogged: Bool = false) throws(ModelError) -> SyncModel {
    try ModelRegistration(parsing: Array(text.utf8), isLogged: isLogged).model
}

@Suite struct `models of earlier versions` {
    /// Every member that had another name or notation.
    static let older = #"""
        {"name": "old", "collections": [
          {"name": "places", "id": "key", "lastChange": "at", "conflict": "serverWins",
           "absence": "hides", "required": "noPlace", "restartsOnGain": true,
           "placeholder": {"fields": {"name": "?"}, "copies": ["x"]}},
          {"name": "entries", "conflict": {"preferNewer": {"field": "at", "marginSeconds": 5}},
           "references": {"place": {"to": "places", "placeholder": "partial"}, "parent": "entries"},
           "ids": "serverNumber", "push": ["update", "create", "update"], "match": ["start"],
           "absence": "keeps", "since": {"months": 2, "serverDate": true},
           "window": {"months": 3, "daysAhead": 2}, "after": ["places"], "owner": "place",
           "choices": {"place": {"of": "places", "else": "noChoice"}},
           "rivals": {"whileNull": "duration", "start": "start", "ties": "arrival"},
           "placeholder": {"refetchHours": 24, "together": "place"},
           "retention": {"field": "start", "months": 2, "days": 3}}],
         "sync": {"fullPullDays": 0, "backoffSeconds": 100, "backoffSecondsMax": 200,
           "limits": [{"requests": 60, "seconds": 60, "wholePulls": true}]}}
        """#

    static let model: SyncModel = {
        let places = CollectionModel(
            "places", idField: "key", lastChangeField: "at",
            access: AccessRule(hidesAbsent: true, missing: "noPlace", relistsOnGain: true),
            placeholder: PlaceholderRule(fields: ["name": "?"], copies: ["x"]))
        let entries = CollectionModel(
            "entries", conflict: .preferNewer(field: "at", margin: .seconds(5)),
            references: [
                Reference("place", to: "places", placeholder: .partial),
                Reference("parent", to: "entries"),
            ],
            ids: .serverNumber, pushes: [.create, .update], match: ["start"], absence: .keeps,
            access: AccessRule(owner: "place"),
            since: SinceRule(ageMax: .months(2), serverDate: true),
            window: PullWindow(back: .months(3), ahead: .days(2)), listedAfter: ["places"],
            choices: [ChoiceRule("place", of: "places", missing: "noChoice")],
            rivals: RivalRule(whileNull: "duration", start: "start", ties: .arrival),
            placeholder: PlaceholderRule(
                refetch: RefetchRule(every: .hours(24), together: "place")),
            retention: RetentionRule(field: "start", ageMax: .months(2) + .days(3)))
        let settings = SyncSettings(
            fullPullEvery: .zero, backoff: BackoffSpan(min: .seconds(100), max: .seconds(200)),
            limits: [RequestLimit(requests: 60, within: .minutes(1), wholePulls: true)])
        return SyncModel(name: "old", collections: [places, entries], settings: settings)
    }()

    @Test func `mean the same as today's`() throws {
        #expect(try parse(Self.older, isLogged: true) == Self.model)
    }

    @Test func `are written as today's, and read back`() throws {
        let registration = ModelRegistration(model: Self.model)

        let text = String(decoding: registration.encoded, as: UTF8.self)

        #expect(try parse(text, isLogged: true) == Self.model)
        for name in [
            "lastChange\"", "push\"", "months", "refetchHours", "Seconds", "sync", "hides\"",
            "\"after", "\"of", "\"else", "\"to\"",
        ] {
            #expect(!text.contains(name), "\(name)")
        }
        for part in [
            #""pushes":["create","update"]"#, #""ageMax":"P2M3D""#, #""ageMax":"P2M""#,
            #""access":{"owner":"place"}"#, #""refetch":{"every":"P1D","together":"place"}"#,
            #""backoff":{"min":"PT1M40S","max":"PT3M20S"}"#, #""fullPullEvery":"PT0S""#,
            #""margin":"PT5S""#, #""within":"PT1M""#,
        ] {
            #expect(text.contains(part), "\(part): \(text)")
        }
    }

    @Test(arguments: [
        (#""push": []"#, #""pushes": []"#),
        (#""absence": "hides""#, #""access": {"hidesAbsent": true}"#),
        (#""restartsOnGain": false"#, #""access": {}"#),
        (#""placeholder": {"refetchHours": 0}"#, #""placeholder": {}"#),
        (
            #""retention": {"field": "f", "days": 56}"#,
            #""retention": {"field": "f", "ageMax": "P8W"}"#
        ),
        (#""retention": {"field": "f"}"#, #""retention": {"field": "f", "ageMax": "PT0S"}"#),
        (
            #""conflict": {"preferNewer": {"field": "f", "marginSeconds": 0}}"#,
            #""conflict": {"preferNewer": {"field": "f"}}"#
        ),
    ])
    func `are read member by member`(_ older: String, _ today: String) throws {
        let one = try parse(#"{"collections": [{"name": "a", \#(older)}]}"#, isLogged: true)
        let other = try parse(#"{"collections": [{"name": "a", \#(today)}]}"#, isLogged: true)

        #expect(one == other)
    }

    @Test func `let the longest wait be the first where that is longer than usual`() throws {
        for settings in [
            #""sync": {"backoffSeconds": 7200}"#, #""settings": {"backoff": {"min": "PT2H"}}"#,
        ] {
            let model = try parse(#"{"collections": [{"name": "a"}], \#(settings)}"#)

            #expect(model.settings.backoff == BackoffSpan(min: .hours(2), max: .hours(2)))
        }
    }

    @Test(arguments: [
        (#""since": {"months": 0}"#, "collections[0].since", "\"months\" is none of ageMax"),
        (#""since": {"months": 2, "ageMax": "P2M"}"#, "collections[0].since", "\"months\" is none"),
        (#""push": ["x"]"#, "collections[0].pushes[0]", "one of create, update, delete"),
        (#""window": {"back": "2 months"}"#, "collections[0].window.back", "as in \"P2M\""),
        (#""since": {"ageMax": "PT0S"}"#, "collections[0].since.ageMax", "from PT1S to P1200M"),
        (
            #""since": {"ageMax": "P2M", "overlap": "-PT1M"}"#, "collections[0].since.overlap",
            "of at most P1D"
        ),
    ])
    func `are refused with the name of today where they are wrong`(
        _ member: String, _ path: String, _ problem: String
    ) {
        do {
            _ = try parse(#"{"collections": [{"name": "a", \#(member)}]}"#)
            Issue.record("it was taken")
        } catch {
            #expect(error.path == path)
            #expect(error.problem.contains(problem), "\(error)")
        }
    }
}
