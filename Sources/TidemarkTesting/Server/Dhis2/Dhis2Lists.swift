// Dhis2Lists.swift — lists of tracker objects, and single ones, in both APIs.
//
// Unless the request says otherwise, what was created last comes first; the order of real servers
// without `order` is not known. In 2.40 and 2.41 a page of tracked entities is cut before what the
// user may not see in the program is taken out of it.

import TidemarkEvents
import TidemarkSync

extension Dhis2ServerModel {
    // MARK: Lists

    func list(
        _ kind: Dhis2Kind, _ generation: Dhis2Generation, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        let page = try call.query.page()
        let found = try sorted(try records(kind, generation, call), call.query)
        var rows = page?.cut(found) ?? found
        if cutsFirst(kind, generation) { rows.removeAll { isDenied($0, call) } }
        let view = view(call)
        let objects = rows.map { returned($0, view, generation, call.query, isAlone: false) }
        var answer = JSONObject()
        if let page { describe(&answer, page, total: found.count, generation) }
        if generation == .old {
            answer[kind.oldName] = .array(objects)
        } else {
            answer[version < .v41 ? "instances" : kind.rawValue] = .array(objects)
        }
        return Dhis2Reply.json(200, .object(answer))
    }

    /// Whether what the user may not see is taken out of a page after it was cut.
    private func cutsFirst(_ kind: Dhis2Kind, _ generation: Dhis2Generation) -> Bool {
        kind == .trackedEntities && generation == .new && version < .v42
    }

    /// Whether a tracked entity is one that the user may not see in the program of a list.
    private func isDenied(_ record: Dhis2Record, _ call: Dhis2Call) -> Bool {
        guard let program = call.query.text("program") else { return false }
        let ownership = Dhis2Ownership(trackedEntity: record.id, program: program)
        return denial(ownership, call.user, call.now) != nil
    }

    /// Where an answer says which page it is: in a `pager`, or beside the rows in 2.40.
    private func describe(
        _ answer: inout JSONObject, _ page: Dhis2Page, total: Int, _ generation: Dhis2Generation
    ) {
        var pager: JSONObject = ["page": .integer(Int64(page.number))]
        if page.isCounted {
            pager["pageCount"] = .integer(Int64(page.pages(of: total)))
            pager["total"] = .integer(Int64(total))
        }
        pager["pageSize"] = .integer(Int64(page.size))
        if generation == .old, !page.isCounted {
            pager["isLastPage"] = .bool(page.isLast(of: total))
        }
        if generation == .old || version >= .v41 { answer["pager"] = .object(pager) }
        guard generation == .new, version < .v42 else { return }
        for (key, value) in pager { answer[key] = value }
    }

    private func view(_ call: Dhis2Call) -> Dhis2View {
        Dhis2View(
            user: call.user, now: call.now, program: call.query.text("program"),
            hasDeleted: call.query.flag("includeDeleted") ?? false,
            hasAllAttributes: call.query.flag("includeAllAttributes") ?? false)
    }

    /// What `fields` leaves of an object; without it, the objects in it are left out.
    private func returned(
        _ record: Dhis2Record, _ view: Dhis2View, _ generation: Dhis2Generation,
        _ query: Dhis2Query, isAlone: Bool
    ) -> JSONValue {
        let tree = tree(record, view)
        let usual = "*,!relationships,!enrollments,!events,!programOwners"
        let isWhole = isAlone && generation == .old
        let fields = Dhis2Fields(query.text("fields") ?? (isWhole ? "*" : usual))
        let named = generation == .old ? Dhis2Names.old(tree, record.kind) : tree
        return .object(fields.only(named))
    }

    // MARK: Which records

    private func records(
        _ kind: Dhis2Kind, _ generation: Dhis2Generation, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> [Dhis2Record] {
        let query = call.query
        if let program = query.text("program"), metadatum("programs", program) == nil {
            throw Dhis2Rejection(
                version < .v41 ? 409 : 400, "Program is specified but does not exist: \(program)")
        }
        if kind == .relationships { return try relationships(call) }
        let ids = ids(kind, query)
        let isByID = !ids.isEmpty || query.text("trackedEntity", "trackedEntityInstance") != nil
        let units = try units(call, isByID: isByID)
        if kind == .trackedEntities, !isByID, query.text("program", "trackedEntityType") == nil {
            throw Dhis2Rejection(
                version < .v41 ? 409 : 400,
                "Either Program or Tracked entity type should be specified")
        }
        let since = try since(kind, generation, call)
        let hasDeleted = query.flag("includeDeleted") ?? false
        let found = all(kind).filter { record in
            (ids.isEmpty || ids.contains(record.id)) && (hasDeleted || !record.isDeleted)
                && since.map { record.updatedAt >= $0 } ?? true
                && passes(record, call, units)
        }
        guard kind == .trackedEntities, !cutsFirst(kind, generation) else { return found }
        return found.filter { !isDenied($0, call) }
    }

    private func ids(_ kind: Dhis2Kind, _ query: Dhis2Query) -> [String] {
        switch kind {
        case .trackedEntities:
            query.list("trackedEntities", "trackedEntity", "trackedEntityInstance")
        case .enrollments: query.list("enrollments", "enrollment")
        case .events: query.list("events", "event")
        case .relationships: []
        }
    }

    /// Tracked entities are compared by the day up to 2.40; everything else exactly.
    private func since(
        _ kind: Dhis2Kind, _ generation: Dhis2Generation, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> Timestamp? {
        let names =
            generation == .new
            ? call.query.text("updatedAfter")
            : call.query.text("lastUpdatedStartDate", "lastUpdated")
        guard let text = names else { return nil }
        guard let since = time.parse(text) else {
            throw Dhis2Rejection(400, "\(text) is no valid date of changes")
        }
        let isByDay = kind == .trackedEntities && (generation == .old || version <= .v40)
        return isByDay ? time.startOfDay(since) : since
    }

    private func passes(
        _ record: Dhis2Record, _ call: Dhis2Call, _ units: (String) -> Bool
    ) -> Bool {
        switch record.kind {
        case .trackedEntities: passes(trackedEntity: record, call, units)
        case .enrollments: passes(enrollment: record, call, units)
        case .events: passes(event: record, call, units)
        case .relationships: false
        }
    }

    private func passes(
        trackedEntity record: Dhis2Record, _ call: Dhis2Call, _ units: (String) -> Bool
    ) -> Bool {
        let query = call.query
        if let type = query.text("trackedEntityType"), type != record.text("trackedEntityType") {
            return false
        }
        for filter in query.all("filter") where !passes(record, attribute: filter) { return false }
        guard let program = query.text("program") else {
            return record.orgUnit.map(units) ?? false
        }
        let ownership = Dhis2Ownership(trackedEntity: record.id, program: program)
        let hasDeleted = query.flag("includeDeleted") ?? false
        let status = query.text("enrollmentStatus", "programStatus")
        let enrollments = all(.enrollments).filter {
            $0.trackedEntity == record.id && $0.program == program
                && (hasDeleted || !$0.isDeleted)
                && (status == nil || $0.text("status") == status)
        }
        return !enrollments.isEmpty && owner(ownership).map(units) ?? false
    }

    /// `attribute:EQ:value`; other comparisons than EQ and LIKE are not modelled and let all pass.
    private func passes(_ record: Dhis2Record, attribute filter: String) -> Bool {
        let parts = filter.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return true }
        let value = record.value(of: parts[0])?.lowercased()
        return switch parts[1].lowercased() {
        case "eq": value == parts[2].lowercased()
        case "like": value?.contains(parts[2].lowercased()) ?? false
        default: true
        }
    }

    private func passes(
        enrollment record: Dhis2Record, _ call: Dhis2Call, _ units: (String) -> Bool
    ) -> Bool {
        let query = call.query
        let trackedEntity = query.text("trackedEntity", "trackedEntityInstance")
        guard let owner = record.trackedEntity, trackedEntity.map({ $0 == owner }) ?? true,
            let program = record.program, query.text("program").map({ $0 == program }) ?? true
        else { return false }
        let ownership = Dhis2Ownership(trackedEntity: owner, program: program)
        return record.orgUnit.map(units) ?? false
            && denial(ownership, call.user, call.now) == nil
    }

    private func passes(
        event record: Dhis2Record, _ call: Dhis2Call, _ units: (String) -> Bool
    ) -> Bool {
        let query = call.query
        for member in ["program", "programStage", "status"] {
            if let wanted = query.text(member), record.text(member) != wanted { return false }
        }
        let enrollment = record.enrollment.flatMap { rows[.enrollments]?[$0] }
        if let wanted = query.text("trackedEntity", "trackedEntityInstance"),
            enrollment?.trackedEntity != wanted
        {
            return false
        }
        if let trackedEntity = enrollment?.trackedEntity, let program = record.program {
            let ownership = Dhis2Ownership(trackedEntity: trackedEntity, program: program)
            if denial(ownership, call.user, call.now) != nil { return false }
        }
        return record.orgUnit.map(units) ?? false
    }

    /// Relationships are listed by one of their ends.
    private func relationships(_ call: Dhis2Call) throws(Dhis2Rejection) -> [Dhis2Record] {
        let query = call.query
        let ends: [(Dhis2Kind, String?)] = [
            (.trackedEntities, query.text("trackedEntity", "tei")),
            (.enrollments, query.text("enrollment")), (.events, query.text("event")),
        ]
        guard let end = ends.first(where: { $0.1 != nil }), let id = end.1 else {
            throw Dhis2Rejection(
                400, "Missing required parameter 'trackedEntity', 'enrollment' or 'event'.")
        }
        guard live(end.0, id) != nil else {
            throw Dhis2Rejection(404, "No \(end.0.idMember) '\(id)' found.")
        }
        let hasDeleted = query.flag("includeDeleted") ?? false
        return all(.relationships).filter { record in
            (hasDeleted || !record.isDeleted)
                && ["from", "to"].contains {
                    record.end($0)?.kind == end.0 && record.end($0)?.id == id
                }
        }
    }

    // MARK: Order

    private func sorted(
        _ records: [Dhis2Record], _ query: Dhis2Query
    ) throws(Dhis2Rejection) -> [Dhis2Record] {
        let newest = records.sorted { $0.sequence > $1.sequence }
        guard let order = query.list("order").first else { return newest }
        let parts = order.split(separator: ":").map(String.init)
        let isDown = parts.count > 1 && parts[1].lowercased() == "desc"
        let mixing = try mixesTies ? query.page() : nil
        let known: Set = [
            "created", "createdAt", "lastUpdated", "updatedAt", "enrolledAt", "enrollmentDate",
            "occurredAt", "eventDate", "scheduledAt", "dueDate", "event", "enrollment",
            "trackedEntity", "trackedEntityInstance", "status", "orgUnit", "program",
        ]
        guard let member = parts.first, known.contains(member) else {
            throw Dhis2Rejection(400, "Invalid order property: '\(order)'")
        }
        return records.sorted { left, right in
            let (one, other) = (key(left, member), key(right, member))
            if one == other, let mixing {
                return mixing.tie(left.id) < mixing.tie(right.id)
            }
            if one == other {
                return isDown ? left.sequence > right.sequence : left.sequence < right.sequence
            }
            return isDown ? one > other : one < other
        }
    }

    private func key(_ record: Dhis2Record, _ member: String) -> String {
        switch member {
        case "created", "createdAt": time.text(record.createdAt)
        case "lastUpdated", "updatedAt": time.text(record.updatedAt)
        case "enrollmentDate": record.text("enrolledAt") ?? ""
        case "eventDate": record.text("occurredAt") ?? ""
        case "dueDate": record.text("scheduledAt") ?? ""
        case record.kind.idMember, record.kind.oldIDMember: record.id
        default: record.text(member) ?? ""
        }
    }

    // MARK: Single objects

    func object(
        _ kind: Dhis2Kind, _ generation: Dhis2Generation, _ id: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        let isOldEntity = kind == .trackedEntities && generation == .old
        let word = isOldEntity ? "TrackedEntityInstance" : kind.word
        guard let record = live(kind, id) else { throw .missing(word, id) }
        try checkAccess(record, call)
        return Dhis2Reply.json(
            200, returned(record, view(call), generation, call.query, isAlone: true))
    }

    /// - Throws: a refusal, when somebody else's unit owns what was asked for.
    ///
    /// A tracked entity is asked for in a program; without one it is there for whom its unit is,
    /// and so it is in the first answer of 2.42 to whom it refuses the program.
    func checkAccess(
        _ record: Dhis2Record, _ call: Dhis2Call
    ) throws(Dhis2Rejection) {
        switch record.kind {
        case .trackedEntities:
            guard let program = call.query.text("program") else {
                if let unit = record.orgUnit, !isInSearchScope(unit, call.user) {
                    throw .missing(Dhis2Kind.trackedEntities.word, record.id)
                }
                return
            }
            guard metadatum("programs", program) != nil else { throw .missing("Program", program) }
            try checkAccess(Dhis2Ownership(trackedEntity: record.id, program: program), call)
        case .enrollments:
            try checkAccess(enrollment: record, call)
        case .events:
            guard let enrollment = record.enrollment.flatMap({ rows[.enrollments]?[$0] }) else {
                return
            }
            try checkAccess(enrollment: enrollment, call)
        case .relationships: return
        }
    }

    private func checkAccess(
        enrollment: Dhis2Record, _ call: Dhis2Call
    ) throws(Dhis2Rejection) {
        guard let owner = enrollment.trackedEntity, let program = enrollment.program else { return }
        try checkAccess(Dhis2Ownership(trackedEntity: owner, program: program), call)
    }
}
