// Dhis2Scope.swift — organisation units, who owns a tracked entity, and who may see it.

import TidemarkEvents
import TidemarkSync

/// A tracked entity in a program.
struct Dhis2Ownership: Sendable, Hashable {
    var trackedEntity: String
    var program: String
}

/// A user's access to a tracked entity in a program.
struct Dhis2Access: Sendable, Hashable {
    var user: String
    var ownership: Dhis2Ownership
}

extension Dhis2ServerModel {
    // MARK: Units

    /// Whether a unit is another one or lies below it.
    func isUnit(_ unit: String, below root: String) -> Bool {
        var seen: Set<String> = []
        var next: String? = unit
        while let here = next, seen.insert(here).inserted {
            if here == root { return true }
            next = parent(of: here)
        }
        return false
    }

    func parent(of unit: String) -> String? {
        guard let found = metadatum("organisationUnits", unit) else { return nil }
        if let parent = found.reference("parent") { return parent }
        return found.text("path")?.split(separator: "/").dropLast().last.map(String.init)
    }

    func isInCaptureScope(_ unit: String, _ user: Dhis2User) -> Bool {
        user.isSuperuser || user.captureUnits.contains { isUnit(unit, below: $0) }
    }

    /// Where a user searches, which is where he writes, too.
    func isInSearchScope(_ unit: String, _ user: Dhis2User) -> Bool {
        isInCaptureScope(unit, user)
            || (user.searchUnits ?? []).contains { isUnit(unit, below: $0) }
    }

    /// Which units a list is about: a test of a unit.
    ///
    /// Without a mode it is the units that are named. Where none are named, old versions refuse
    /// unless the objects themselves are, and 2.41 takes all that the user may see.
    func units(
        _ call: Dhis2Call, isByID: Bool
    ) throws(Dhis2Rejection) -> (String) -> Bool {
        let query = call.query
        let user = call.user
        let roots = query.list("orgUnits", "orgUnit", "ou")
        for unit in roots where metadatum("organisationUnits", unit) == nil {
            throw Dhis2Rejection(
                version < .v41 ? 409 : 400, "Organisation unit does not exist: \(unit)")
        }
        let usual = roots.isEmpty && (isByID || version >= .v41) ? "ACCESSIBLE" : "SELECTED"
        let mode = query.text("orgUnitMode", "ouMode") ?? usual
        switch mode {
        case "ALL":
            guard user.isSuperuser else {
                throw Dhis2Rejection(403, "User is not authorized to query across all units")
            }
            return { _ in true }
        case "ACCESSIBLE": return { isInSearchScope($0, user) }
        case "CAPTURE": return { isInCaptureScope($0, user) }
        case "SELECTED", "CHILDREN", "DESCENDANTS": break
        default: throw Dhis2Rejection(400, "\(mode) is not a valid organisation unit mode")
        }
        guard !roots.isEmpty else {
            throw Dhis2Rejection(
                version < .v41 ? 409 : 400, "At least one organisation unit must be specified")
        }
        return { unit in
            guard isInSearchScope(unit, user) else { return false }
            return switch mode {
            case "SELECTED": roots.contains(unit)
            case "CHILDREN":
                roots.contains(unit) || parent(of: unit).map { roots.contains($0) } ?? false
            default: roots.contains { isUnit(unit, below: $0) }
            }
        }
    }

    // MARK: Ownership

    /// The unit that owns a tracked entity in a program: that of the first enrollment unless it was
    /// transferred; without an enrollment the unit in which the tracked entity is registered.
    func owner(_ ownership: Dhis2Ownership) -> String? {
        owners[ownership] ?? rows[.trackedEntities]?[ownership.trackedEntity]?.orgUnit
    }

    /// Why a user may not see a tracked entity in a program; nil when he may.
    func denial(_ ownership: Dhis2Ownership, _ user: Dhis2User, _ now: Timestamp) -> String? {
        if user.isSuperuser { return nil }
        let access = Dhis2Access(user: user.id, ownership: ownership)
        if let until = temporary[access], now < until { return nil }
        let level = metadatum("programs", ownership.program)?.text("accessLevel") ?? "OPEN"
        let isClosed = level == "CLOSED"
        let words = isClosed ? "PROGRAM_ACCESS_CLOSED" : "OWNERSHIP_ACCESS_DENIED"
        if denied.contains(ownership) { return words }
        guard let owner = owner(ownership) else { return nil }
        let isOpen = level == "OPEN" || level == "AUDITED"
        let mayRead = isOpen ? isInSearchScope(owner, user) : isInCaptureScope(owner, user)
        return mayRead ? nil : words
    }

    /// - Throws: what the server's version says to whom it refuses a tracked entity.
    func checkAccess(
        _ ownership: Dhis2Ownership, _ call: Dhis2Call
    ) throws(Dhis2Rejection) {
        guard let words = denial(ownership, call.user, call.now) else { return }
        if denialStatus == 404 { throw .missing("TrackedEntity", ownership.trackedEntity) }
        throw Dhis2Rejection(denialStatus, words, code: denialStatus == 403 ? "E1006" : nil)
    }

    private func ownership(_ call: Dhis2Call) throws(Dhis2Rejection) -> Dhis2Ownership {
        guard let id = call.query.text("trackedEntity", "trackedEntityInstance") else {
            throw Dhis2Rejection(400, "Required request parameter 'trackedEntity' is not present")
        }
        guard let program = call.query.text("program") else {
            throw Dhis2Rejection(400, "Required request parameter 'program' is not present")
        }
        guard live(.trackedEntities, id) != nil else { throw .missing("TrackedEntity", id) }
        guard metadatum("programs", program) != nil else { throw .missing("Program", program) }
        return Dhis2Ownership(trackedEntity: id, program: program)
    }

    /// `POST tracker/ownership/override`: access for three hours, for a reason.
    ///
    /// Only a protected program lets itself be opened, and only to whom it is not beyond the search
    /// scope. What is answered otherwise is not known; here it is 403.
    mutating func override(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let ownership = try ownership(call)
        guard call.query.text("reason") != nil else {
            throw Dhis2Rejection(400, "Required request parameter 'reason' is not present")
        }
        guard metadatum("programs", ownership.program)?.text("accessLevel") == "PROTECTED" else {
            throw Dhis2Rejection(
                403, "Temporary ownership can only be granted to a protected program")
        }
        if let owner = owner(ownership), !isInSearchScope(owner, call.user) {
            throw Dhis2Rejection(403, "The owner of the tracked entity is not in the search scope")
        }
        temporary[Dhis2Access(user: call.user.id, ownership: ownership)] = call.now.adding(
            seconds: temporaryAccessSeconds)
        return Dhis2Reply.json(
            200, .object(Dhis2Reply.message(200, "OK", "Temporary Ownership granted")))
    }

    /// `PUT tracker/ownership/transfer`: another unit owns the tracked entity in the program.
    mutating func transfer(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let ownership = try ownership(call)
        guard let unit = call.query.text("ou", "orgUnit") else {
            throw Dhis2Rejection(400, "Required request parameter 'ou' is not present")
        }
        guard metadatum("organisationUnits", unit) != nil else {
            throw .missing("OrganisationUnit", unit)
        }
        try checkAccess(ownership, call)
        owners[ownership] = unit
        touch(trackedEntity: ownership.trackedEntity, call.now)
        return Dhis2Reply.json(200, .object(Dhis2Reply.message(200, "OK", "Ownership transferred")))
    }

    /// What belongs to a tracked entity was changed: so was it, for lists of changes.
    mutating func touch(trackedEntity id: String?, _ now: Timestamp) {
        guard let id, var record = rows[.trackedEntities]?[id] else { return }
        record.updatedAt = now
        keep(record)
    }
}
