// DhisWorld.swift — a server that behaves like DHIS2, spoken to by raw HTTP, on a clock in the
// test's hand.

import HTTPTypes
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// A server with programs, at 2026-11-18 11:06:40 UTC.
///
/// The user writes below `unitHere001` and searches below `unitAway001` as well; `unitRoot001` is
/// above both.
struct DhisWorld: Sendable {
    let clock = ManualClock()
    let server: Dhis2Server

    init(
        _ version: Dhis2Version = .v40, hoursAheadOfUTC: Int = 0, faults: [FaultRule] = []
    ) {
        let user = Dhis2User(captureUnits: ["unitHere001"], searchUnits: ["unitAway001"])
        server = Dhis2Server(
            Dhis2ServerModel(version, users: [user], hoursAheadOfUTC: hoursAheadOfUTC),
            faults: FaultPlan(faults), clock: clock)
        putUnitsAndPrograms()
        putElements()
    }

    private func putUnitsAndPrograms() {
        put("organisationUnits/unitRoot001", #"{"name":"Country","code":"C"}"#)
        put(
            "organisationUnits/unitHere001",
            #"{"name":"Clinic","code":"CL","parent":{"id":"unitRoot001"}}"#)
        put(
            "organisationUnits/unitRoom001",
            #"{"name":"Room","path":"/unitRoot001/unitHere001/unitRoom001"}"#)
        put("organisationUnits/unitAway001", #"{"name":"Hospital","parent":{"id":"unitRoot001"}}"#)
        put("organisationUnits/unitLost001", #"{"name":"Ship","parent":{"id":"unitRoot001"}}"#)
        let units = #""organisationUnits":[{"id":"unitHere001"},{"id":"unitAway001"}]"#
        let attributes =
            #""programTrackedEntityAttributes":[{"trackedEntityAttribute":{"id":"attrNumb001"}}]"#
        for (id, level) in [
            ("progOpen001", "OPEN"), ("progProt001", "PROTECTED"), ("progClos001", "CLOSED"),
        ] {
            put(
                "programs/\(id)",
                """
                {"name":"\(level)","accessLevel":"\(level)","programType":"WITH_REGISTRATION",
                 "trackedEntityType":{"id":"typePers001"},\(units),\(attributes)}
                """)
        }
        put(
            "programs/progEvnt001",
            #"{"name":"Events","programType":"WITHOUT_REGISTRATION",\#(units)}"#)
    }

    private func putElements() {
        for (stage, program) in [
            ("stagOpen001", "progOpen001"), ("stagProt001", "progProt001"),
            ("stagEvnt001", "progEvnt001"),
        ] {
            put("programStages/\(stage)", #"{"name":"Visit","program":{"id":"\#(program)"}}"#)
        }
        put(
            "trackedEntityTypes/typePers001",
            """
            {"name":"Person","trackedEntityTypeAttributes":[
             {"trackedEntityAttribute":{"id":"attrName001"}},
             {"trackedEntityAttribute":{"id":"attrCode001"}}]}
            """)
        put("trackedEntityAttributes/attrName001", #"{"name":"Name","valueType":"TEXT"}"#)
        put("trackedEntityAttributes/attrNumb001", #"{"name":"Number","valueType":"INTEGER"}"#)
        put(
            "trackedEntityAttributes/attrCode001",
            #"{"name":"Code","valueType":"TEXT","unique":true,"generated":true,"#
                + #""pattern":"RANDOM(#)"}"#)
        put("dataElements/elemText001", #"{"name":"Words","valueType":"TEXT"}"#)
        put("dataElements/elemNumb001", #"{"name":"Count","valueType":"NUMBER"}"#)
        put("dataElements/elemBool001", #"{"name":"Whether","valueType":"BOOLEAN"}"#)
        put("relationshipTypes/relaType001", #"{"name":"Mother","bidirectional":true}"#)
        put(
            "dataSets/dataSett001",
            #"{"name":"Monthly","dataSetElements":[{"dataElement":{"id":"elemNumb001"}}]}"#)
    }

    /// Puts a person with an enrollment in a program and a visit, all of them at a unit.
    func putPerson(
        _ name: String, program: String = "progOpen001", stage: String = "stagOpen001",
        unit: String = "unitHere001"
    ) {
        put(
            "trackedEntities/tra\(name)",
            """
            {"trackedEntityType":"typePers001","orgUnit":"\(unit)",
             "attributes":[{"attribute":"attrName001","value":"Ada"}],
             "enrollments":[{"enrollment":"enr\(name)","program":"\(program)","orgUnit":"\(unit)",
              "enrolledAt":"2026-11-01","occurredAt":"2026-11-01",
              "events":[{"event":"eve\(name)","programStage":"\(stage)","orgUnit":"\(unit)",
               "occurredAt":"2026-11-02",
               "dataValues":[{"dataElement":"elemText001","value":"well"}]}]}]}
            """)
    }

    /// What the server holds, and its settings.
    var model: Dhis2ServerModel {
        get { server.withModel { $0 } }
        nonmutating set { server.withModel { $0 = newValue } }
    }

    func wait(_ seconds: Int64) { clock.advance(by: .seconds(seconds)) }

    func put(_ key: String, _ json: String) { server.put(key, json) }

    // MARK: Requests

    /// The answer below `/api`.
    @discardableResult
    func answer(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil,
        authorization: String? = "Basic YWRtaW46ZGlzdHJpY3Q="
    ) -> TransportResponse {
        var request = HTTPRequest(
            method: method, scheme: "https", authority: "play.dhis2.org", path: "/api" + path)
        request.headerFields[.authorization] = authorization
        let (sent, now) = (request, clock.now)
        return server.withModel {
            $0.handle(sent, body: body.map { Array($0.utf8) }, at: now)
        }
    }

    /// The body of an answer.
    @discardableResult
    func value(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) throws -> JSONValue {
        try JSONValue(parsing: answer(method, path, body).body)
    }

    /// What was imported through the new API, at once and object by object.
    @discardableResult
    func imported(
        _ payload: String, strategy: String = "CREATE_AND_UPDATE", mode: String = "OBJECT",
        reports: String = "WARNINGS"
    ) throws -> JSONValue {
        try value(
            .post,
            "/tracker?async=false&importStrategy=\(strategy)&atomicMode=\(mode)"
                + "&reportMode=\(reports)", payload)
    }

    /// The ids of a list, in its order.
    func ids(_ path: String, _ list: String, _ member: String) throws -> [String] {
        (try value(.get, path)[list]?.array ?? []).compactMap { $0[member]?.stringValue }
    }

    /// An event of a person, as a member of a payload.
    static func event(_ name: String, _ members: String = "") -> String {
        """
        {"event":"eve\(name)","enrollment":"enr\(name)","program":"progOpen001",
         "programStage":"stagOpen001","orgUnit":"unitHere001","occurredAt":"2026-11-02"\(members)}
        """
    }

    static func person(_ name: String, _ members: String = "") -> String {
        """
        {"trackedEntity":"tra\(name)","trackedEntityType":"typePers001",
         "orgUnit":"unitHere001"\(members)}
        """
    }

    static func enrollment(_ name: String, _ members: String = "") -> String {
        """
        {"enrollment":"enr\(name)","trackedEntity":"tra\(name)","program":"progOpen001",
         "orgUnit":"unitHere001","enrolledAt":"2026-11-01","occurredAt":"2026-11-01"\(members)}
        """
    }
}

extension JSONValue {
    /// A part by members and places: `at("response", "importSummaries", 0, "status")`.
    func at(_ path: any JSONStep...) -> JSONValue? {
        path.reduce(self) { found, step in found.flatMap { step.take($0) } }
    }

    /// The codes of errors in a report of the new importer, with the object of each.
    var errorCodes: [String] {
        (at("validationReport", "errorReports")?.array ?? []).map { report in
            (report["errorCode"]?.stringValue ?? "") + " " + (report["uid"]?.stringValue ?? "")
        }
    }

    /// Created, updated, deleted and ignored.
    var counts: [Int64] {
        ["created", "updated", "deleted", "ignored"].compactMap { at("stats", $0)?.int64Value }
    }
}

/// A member or a place of a JSON value.
protocol JSONStep {
    func take(_ value: JSONValue) -> JSONValue?
}

extension String: JSONStep {
    func take(_ value: JSONValue) -> JSONValue? { value[self] }
}

extension Int: JSONStep {
    func take(_ value: JSONValue) -> JSONValue? {
        guard let list = value.array, list.indices.contains(self) else { return nil }
        return list[self]
    }
}
