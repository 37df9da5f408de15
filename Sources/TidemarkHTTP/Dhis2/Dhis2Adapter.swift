// Dhis2Adapter.swift — DHIS2's tracker: tracked entities with the enrollments and events in them,
// events of their own, aggregate data values (Dhis2DataValues.swift), and metadata, which is only
// read. What is sent: Dhis2Writing.swift; which attributes are told: Dhis2Attributes.swift.
//
//   call        up to 2.39                            from 2.40 on
//   a list      GET api/trackedEntityInstances        GET api/tracker/trackedEntities
//   a read      GET api/trackedEntityInstances/ID     GET api/tracker/trackedEntities/ID
//   a fetch     GET api/events?event=ID;ID            GET api/tracker/events?events=ID,ID
//   a stub      the same, without what the object holds
//   the user    GET api/me
//   metadata    GET api/programs, GET api/programs/ID, GET api/programs?filter=id:in:[ID,ID]
//   values      see Dhis2Pools.swift
//   actions     see Dhis2Ownership.swift
//   files       see Dhis2Files.swift
//
// Lists have what changed last on their first page, and what was deleted, but for metadata: of that
// only a list of everything tells what is gone. So a later list goes on
// at the last change of the first page, in the server's own words: they name no zone of time. What
// changes meanwhile moves to the first page, and what was there to a later one, so that nothing is
// passed over.

import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// Speaks to a DHIS2 server.
public struct Dhis2Adapter: ServerAdapter {
    let dialect: Dhis2Dialect

    /// How many entities a page has where the model says nothing.
    static let usualPageSize = 50

    /// An adapter for a server of a version.
    ///
    /// - Parameter version: the server's, as `system/info` says it: `2.41`, `2.40.3`.
    /// - Returns: nil where the version is none of DHIS2, or older than 2.29.
    public init?(version: String) {
        guard let dialect = try? Dhis2Dialect(version: version) else { return nil }
        self.init(dialect)
    }

    init(_ dialect: Dhis2Dialect) { self.dialect = dialect }

    /// Lists have parameters, nothing has a version, and values are reserved.
    ///
    /// From 2.40 on what belongs together is sent together, deletions first; before, trees are,
    /// twenty a request.
    public var traits: ServerTraits {
        let isNew = dialect.generation == .new
        var traits = ServerTraits(
            writesPerRequestMax: 1000, hasVersions: false, mergesLists: isNew,
            hasListParameters: true,
            bundled: isNew ? ["trackedEntities", "enrollments", "events", "relationships"] : [],
            deletesFirst: isNew, reservesValues: true)
        traits.readBacksPerFetchMax = 100
        traits.sentInPart = isNew ? ["events"] : ["events", "trackedEntities"]
        traits.shownInPart = ["trackedEntities"]
        if dialect.deniesAsMissing { traits.absenceNeedsFetch = ["trackedEntities"] }
        traits.refetchesPerRequestMax = 100
        traits.idBytesPerRequestMax = Self.idBytesMax
        traits.idSeparators = Self.idSeparators
        traits.numberedPages = Self.usualPageSize
        traits.unpaged = ["dataValues"]
        if !isNew {
            traits.nestedIn = ["enrollments": "trackedEntities", "events": "enrollments"]
            traits.presenceFields = ["events": "enrollment"]
            traits.treesPerRequestMax = 20
        }
        if dialect.namesDataSets {
            traits.partitionFields = ["dataValues": "dataSet"]
        }
        return traits
    }

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, let page):
            return try list(collection, [:], after, page)
        case .listPart(let collection, let parameters, let after, let page):
            if let id = parameters[Self.one] { return try read(id, collection, parameters) }
            return try list(collection, parameters, after, page)
        case .read(let collection, let id):
            let kind = try known(collection)
            if kind == .dataValues { return get(try place(ofValues: [id], in: collection)) }
            if kind == .user { return get(Self.placeOfUser) }
            let place = try place(of: id, kind)
            guard kind.isTracker else { return get(place + "?fields=:owner") }
            let program = program(ofEntitiesIn: collection).map { "program=\($0)&" } ?? ""
            return get("\(place)?\(program)fields=\(Self.trackerFields)")
        case .reserve(let pool, let key, _, let count):
            return get(try Self.place(ofValues: key, pool, count: count))
        case .create, .update, .delete: return try importing([call])
        case .perform(let collection, let id, let action, let parameters, _):
            return try ownership(collection, id, action, parameters)
        case .batch(let calls): return try importing(calls)
        case .poll(let ticket, _): return get("tracker/" + (try Dhis2Ticket(ticket).path))
        case .fetch(let collection, let ids): return try fetch(collection, ids)
        case .refetch(let collection, let ids, _): return try refetch(collection, ids)
        case .describe, .listWindow, .feed, .combined:
            throw .client(status: 0, "DHIS2 has no such call")
        }
    }

    /// Whether a list would have shown what belongs to one of its tracked entities.
    ///
    /// A list about no program leaves out what lies in protected and closed ones, to which the user
    /// may have no access, and of any program what a unit out of reach owns by now. So only one
    /// about the program itself says that something is gone; what is deleted a list tells.
    public func shows(
        _ child: JSONDocument, of collection: CollectionModel, in list: ListParameters,
        _ document: (EntityKey) -> JSONDocument?
    ) -> Bool {
        if Dhis2Kind(collection.name) == .relationships {
            return ["from", "to"].allSatisfy { end in
                child.value(end).map { showsEnd($0, in: list, document) } ?? false
            }
        }
        return shows(child, in: list)
    }

    /// Whether a list would have shown an end of a relationship: a tracked entity, or what lies in
    /// a program.
    private func showsEnd(
        _ end: JSONValue, in list: ListParameters, _ document: (EntityKey) -> JSONDocument?
    ) -> Bool {
        for kind in [Dhis2Kind.enrollments, .events] {
            guard let id = end[dialect.idField(of: kind)]?[dialect.idField(of: kind)]?.stringValue
            else { continue }
            let key = EntityKey(CollectionName(dialect.listName(of: kind)), id)
            return document(key).map { shows($0, in: list) } ?? false
        }
        return true
    }

    /// Whether a list is of the program that something lies in.
    private func shows(_ child: JSONDocument, in list: ListParameters) -> Bool {
        guard let program = child.value("program")?.stringValue else { return false }
        return list["program"] == program
    }

    // MARK: Lists

    /// The parameter of a list that is of one tracked entity, as a program shows it.
    static let one = "trackedEntity"

    /// One tracked entity as a program shows it: what lies in a protected one the user is denied.
    private func read(
        _ id: String, _ collection: CollectionModel, _ parameters: ListParameters
    ) throws(SyncFailure) -> ServerRequest {
        let others = parameters.all.map(\.name).filter { $0 != Self.one }
        guard try known(collection) == .trackedEntities, others == ["program"],
            let program = parameters["program"]
        else {
            throw .client(
                status: 0,
                "a list of one trackedEntity is one of trackedEntities, and has a program beside it"
            )
        }
        return get(
            try place(of: id, .trackedEntities)
                + "?program=\(ServerRequest.percentEncoded(program))&fields=\(Self.trackerFields)")
    }

    /// The program, percent-encoded, in which tracked entities are read: the one that all lists of
    /// the model name; nil where there is none.
    ///
    /// From 2.42 on a tracked entity is there, in a program, for whom its owner is in reach, and
    /// without one for whom its own unit is.
    private func program(ofEntitiesIn collection: CollectionModel) -> String? {
        guard dialect.deniesAsMissing, Dhis2Kind(collection.name) == .trackedEntities else {
            return nil
        }
        return Self.program(of: (collection.lists ?? []).map(\.parameters))
            .map { ServerRequest.percentEncoded($0) }
    }

    /// The program that all of some lists name; nil where there is none.
    private static func program(of lists: [ListParameters]) -> String? {
        let program = lists.first?["program"]
        return lists.allSatisfy { $0["program"] == program } ? program : nil
    }

    /// The parameter of a list that is of one tracked entity, deleted or not.
    static let narrowing = "id"

    /// Lists of one tracked entity: in the program that all lists name, else in each of those that
    /// they name, whose attributes no other one shows, and then in all programs.
    ///
    /// Up to 2.39 the last one shows all attributes.
    public func narrowed(
        _ lists: [ListParameters], to id: String, of collection: CollectionModel
    ) -> [ListParameters] {
        guard Dhis2Kind(collection.name) == .trackedEntities, !traits.isAlone(id) else {
            return []
        }
        if let program = Self.program(of: lists) {
            return [[Self.narrowing: id, "program": program]]
        }
        var named: [ListParameters] = []
        for list in lists where dialect.generation == .new {
            guard let program = list["program"] else { continue }
            let own: ListParameters = [Self.narrowing: id, "program": program]
            if !named.contains(own) { named.append(own) }
        }
        named.append([Self.narrowing: id])
        return named
    }

    /// Everything of an object, but for who owns it: that depends on the list.
    private static let trackerFields = "*,!programOwners"

    private func list(
        _ collection: CollectionModel, _ parameters: ListParameters, _ after: Revision?,
        _ page: String?
    ) throws(SyncFailure) -> ServerRequest {
        let kind = try known(collection)
        let idName = dialect.idsParameter(of: kind)
        let own = idName == nil ? parameters : parameters.without(Self.narrowing)
        var words = try dialect.words(own, of: kind)
        if let idName, let id = parameters[Self.narrowing] { words.append((idName, id)) }
        if kind == .user { return get(Self.placeOfUser) }
        if kind == .dataValues {
            guard page == nil else { throw .client(status: 0, "data values have no pages") }
            return get(try place(ofValues: words, after: after))
        }
        if kind == .trackedEntities, parameters["program"] == nil,
            parameters["trackedEntityType"] == nil, parameters[Self.narrowing] == nil
        {
            throw .client(
                status: 0,
                "trackedEntities are listed by program or trackedEntityType; name one in lists")
        }
        let after = after.flatMap(Self.start)
        var query = words.map { (name, value) in
            "\(name)=\(ServerRequest.percentEncoded(value))"
        }
        if kind.isTracker {
            query.append("fields=\(Self.trackerFields)")
            query.append("includeDeleted=true")
            if dialect.generation == .old { query.append("includeAllAttributes=true") }
            query.append("order=\(dialect.changedAt):desc")
            if let after { query.append("\(dialect.since)=\(Self.escape(after))") }
        } else {
            query.append("fields=:owner")
            // Import gives many the same time, in which a page could end.
            query.append("order=lastUpdated:desc&order=id:asc")
            if let after { query.append("filter=lastUpdated:ge:\(Self.escape(after))") }
        }
        query.append("page=\(try Self.number(page))")
        query.append("pageSize=\(pageSize(of: collection))")
        return get(dialect.place(of: kind) + "?" + query.joined(separator: "&"))
    }

    /// How far changes are listed back behind the newest one that is known, in seconds: ten minutes
    /// of late commits, and the hour that the server's clock goes back as summer time ends.
    private static let lateSeconds: Int64 = 4200

    /// From when on changes are listed: what comes late has an earlier time than the newest change.
    ///
    /// A time with a zone stays; nil for a cursor that is no time, which has expired.
    private static func start(after newest: Revision) -> Revision? {
        let text = newest.description
        guard let time = Dhis2Day.moment(text) else { return moment(text).map { _ in newest } }
        // As the server writes it: in its own time, to the millisecond.
        return Revision(String(time.adding(seconds: -lateSeconds).description.prefix(23)))
    }

    /// The user who signs in, with the units where he writes, and where he searches.
    private static let placeOfUser =
        "me?fields=id,username,organisationUnits%5Bid%5D,teiSearchOrganisationUnits%5Bid%5D"

    /// Several objects by their ids, those that were deleted among them.
    private func fetch(
        _ collection: CollectionModel, _ ids: [String], fields: String = trackerFields
    ) throws(SyncFailure) -> ServerRequest {
        let kind = try known(collection)
        if kind == .dataValues { return get(try place(ofValues: ids, in: collection)) }
        if kind == .user { return get(Self.placeOfUser) }
        if let id = try alone(ids) { return get(try place(of: id, kind) + "?fields=\(fields)") }
        let mark = dialect.minor < 41 ? ";" : ","
        let list = ids.map { ServerRequest.percentEncoded($0) }.joined(separator: mark)
        guard let name = dialect.idsParameter(of: kind) else {
            throw .client(status: 0, "metadata is read one by one")
        }
        return get(
            "\(dialect.place(of: kind))?\(name)=\(list)&fields=\(fields)"
                + "&includeDeleted=true&page=1&pageSize=\(ids.count)")
    }

    /// What relationships lead to, without what it holds; or metadata that something names.
    private func refetch(
        _ collection: CollectionModel, _ ids: [String]
    ) throws(SyncFailure) -> ServerRequest {
        let kind = try known(collection)
        guard case .metadata = kind else {
            if kind == .user { return get(Self.placeOfUser) }
            let held = dialect.children(of: kind).map { ",!\(dialect.listName(of: $0))" }
            return try fetch(collection, ids, fields: Self.trackerFields + held.joined())
        }
        if let id = try alone(ids) { return get(try place(of: id, kind) + "?fields=:owner") }
        let list = ids.map { ServerRequest.percentEncoded($0) }.joined(separator: ",")
        return get(
            "\(dialect.place(of: kind))?filter=id:in:%5B\(list)%5D&fields=:owner&paging=false")
    }

    /// How many bytes of ids an address has at most: servers refuse one of more than 8 kB, and some
    /// parameters may stand beside an id.
    static let idBytesMax = 3000

    /// What the server takes for the end of an id where one parameter holds several.
    private static let idSeparators = ",;:[]"

    /// The only one of some ids, where it can't stand in a parameter that holds several.
    ///
    /// - Throws: ``SyncFailure`` where others are beside it.
    func alone(_ ids: [String]) throws(SyncFailure) -> String? {
        let odd = ids.first(where: traits.isAlone)
        guard let odd, ids.count > 1 else { return odd }
        throw .client(
            status: 0,
            "\"\(odd)\" has one of \(Self.idSeparators), by which DHIS2 parts ids; it is asked for "
                + "alone")
    }

    /// Where an object lies, below `api`.
    ///
    /// - Throws: ``SyncFailure`` for an id that would be another place.
    private func place(of id: String, _ kind: Dhis2Kind) throws(SyncFailure) -> String {
        guard !URLPath.isPlace(id) else {
            throw .client(
                status: 0,
                "\"\(id)\" can't be asked for as an id: in an address it is another place; correct "
                    + "what names it")
        }
        return dialect.place(of: kind) + "/" + ServerRequest.percentEncoded(id)
    }

    func pageSize(of collection: CollectionModel) -> Int {
        collection.pageSize ?? Self.usualPageSize
    }

    /// The number that an earlier page gave as that of the next one.
    static func number(_ page: String?) throws(SyncFailure) -> Int {
        guard let page else { return 1 }
        guard let number = Int(page), number > 1 else {
            throw .client(status: 0, "\"\(page)\" is no number of a page")
        }
        return number
    }

    private static func escape(_ revision: Revision) -> String {
        ServerRequest.percentEncoded(revision.description)
    }

    private func get(_ place: String) -> ServerRequest {
        ServerRequest(method: .get, path: "/api/\(place)")
    }

    /// What a collection holds.
    ///
    /// - Throws: ``SyncFailure`` where the model names another field as the id than the server.
    func known(_ collection: CollectionModel) throws(SyncFailure) -> Dhis2Kind {
        let kind = Dhis2Kind(collection.name)
        let field = dialect.idField(of: kind)
        guard ExactString(field) == ExactString(collection.idField) else {
            throw .client(
                status: 0,
                "the id of \(collection.name) is in \"\(field)\" on this version of DHIS2; "
                    + "name it as idField in the model")
        }
        return kind
    }
}

extension ListParameters {
    /// The same without a parameter.
    fileprivate func without(_ name: String) -> ListParameters {
        guard self[name] != nil else { return self }
        return ListParameters(
            Dictionary(
                all.filter { $0.name != name }.map { ($0.name, $0.value) },
                uniquingKeysWith: { $1 }))
    }
}
