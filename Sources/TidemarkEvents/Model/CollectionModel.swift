// CollectionModel.swift — one collection of a model: the shape of its entities, and the rules by
// which they are listed, pushed, merged and kept.

/// One collection of a ``SyncModel``.
public struct CollectionModel: Sendable, Hashable {
    /// The name, as the server knows it.
    public var name: CollectionName
    /// The field that holds the id.
    public var idField: String
    /// The field that holds the server's last-change time or version, which only the server sets;
    /// nil for the adapter's own, where it has one.
    public var lastChangeField: String?
    /// The conflict policy: what happens to local changes when the server changed the same entity.
    public var conflict: ConflictPolicy
    /// The fields that hold the id of another entity.
    public var references: [Reference]
    /// How many entities one page of a list holds, or nil for the server's own choice.
    public var pageSize: Int?
    /// The most pages of a list, over all runs that it takes; a longer list fails.
    public var pagesMax: Int
    /// How the server writes times.
    public var dates: DateFormat
    /// How the server writes field names, where the app's types use camel case.
    public var keys: KeyStyle
    /// The fields that become null when they lose their value; other fields are left out then.
    public var nullable: [String]
    /// The indexes that are kept for queries; references have one of their own.
    public var indexes: [IndexModel]
    /// How documents and edits of older models are read; the oldest step comes first.
    public var migrations: [FieldMigration]
    /// The fields that the server writes otherwise than the model reads them; each once.
    public var forms: [FieldForm]
    /// Members of what the server sends, at any depth, that are cut off before anything is
    /// logged or compared: secrets, and what changes without being news.
    public var drops: [String]
    /// Whether its entities are kept on this device alone: they are never listed and never sent.
    ///
    /// An edit of one is all that there is to know of it: it takes effect at once, and nothing
    /// waits. They go with the store, and a wipe keeps them.
    public var localOnly: Bool
    /// Who gives new entities their id.
    public var ids: IDSource
    /// Which local changes are pushed; others are refused.
    public var pushes: [PushOperation]
    /// What the server does with an entity when it is asked to; each name once.
    public var actions: [ActionRule]
    /// What an update sends; only the changes need an adapter that can do so:
    /// `ServerTraits.sendsChanges`.
    public var updates: UpdateContent
    /// Whether what the server refused is sent again in every run, until it is accepted, edited or
    /// discarded; otherwise it waits for an edit or a retry.
    public var retriesRefused: Bool
    /// The fields by which an entity that was sent and never answered is recognised in a list,
    /// where the server names entities: such that the app writes, and no paths.
    public var match: [String]
    /// What a list of everything says of entities that it does not name.
    public var absence: AbsenceRule
    /// How the user gets and loses access to entities.
    public var access: AccessRule
    /// When only changes since a date are listed; nil where the server has cursors of its own.
    public var since: SinceRule?
    /// The window of a list of everything; nil for no limit.
    public var window: PullWindow?
    /// How it is listed as a feed, in blocks; nil for a list as a whole.
    public var feed: FeedRule?
    /// The parts that it is listed in, each by a list of its own; nil for one list of all, and
    /// empty for none, where its entities come in those of another collection.
    public var lists: [ListRule]?
    /// How many entities its lists of everything ask for together at most, those without a limit of
    /// their own; nil for all.
    ///
    /// Only where the server's pages have numbers. Each gets an even share at first. What some
    /// leave is shared by the others in further rounds, until all of it is there, or no list has
    /// more. The limits of the other lists count as well.
    public var listLimit: Int?
    /// What happens to a list of which a page fails, where the server's pages have numbers.
    public var failedPage: FailedPageRule
    /// The members in which the server sends entities of other collections: those that belong to
    /// the entity, each with a reference to it.
    public var embeds: [EmbedRule]
    /// Whether a list's word on an entity, and on all that stands in it, is left out while anything
    /// in its tree waits for the server, was refused or has a warning.
    ///
    /// The tree is what counts in the entity by ``Reference/rollUp``. The first run after nothing
    /// does any more reads the entity.
    public var withholdsTrees: Bool
    /// The collections whose lists come before this one's, where several are requested at once.
    public var listedAfter: [CollectionName]
    /// How old its list may be that is made anew only in a run that the user, new credentials or a
    /// push notification ask for; zero for a list in every run.
    ///
    /// All others leave it out: by the timer, after an edit, with the network back, in the
    /// background, and by a trigger that the app names, as for a screen.
    public var listEvery: TimeSpan
    /// The name of a set of collections of which all is listed or nothing; nil for none.
    ///
    /// What their lists bring is seen once all of them came to their end in one run, in one commit;
    /// until then nothing of any changes. They are only read, as wholes.
    public var allOrNone: String?
    /// Fields that must refer to one of the entities of another collection.
    public var choices: [ChoiceRule]
    /// Entities of which only one may hold a state.
    public var rivals: RivalRule?
    /// The placeholder for a referenced entity that is not here.
    public var placeholder: PlaceholderRule?
    /// How long entities are kept; nil for ever.
    public var retention: RetentionRule?
    /// The fields that name files to be had beside the entities.
    public var contents: [ContentRule]
    /// The lists whose elements are told by the value of a member, and are changed, merged and in
    /// conflict one by one; each field once.
    public var keyed: [KeyedList]
    /// How its entities lie in each other, as files in folders do; nil where they don't.
    public var tree: TreeRule?

    /// The default of ``pagesMax``.
    public static let usualPagesMax = 10_000

    /// The most indexes of a collection.
    public static let indexesMax = 32

    /// A collection; everything but the name has a default.
    public init(
        _ name: CollectionName, idField: String = "id", lastChangeField: String? = nil,
        conflict: ConflictPolicy = .serverWins, references: [Reference] = [],
        pageSize: Int? = nil, pagesMax: Int = CollectionModel.usualPagesMax,
        indexes: [IndexModel] = [], dates: DateFormat = .iso8601, keys: KeyStyle = .verbatim,
        nullable: [String] = [], migrations: [FieldMigration] = [],
        forms: [FieldForm] = [], drops: [String] = [], localOnly: Bool = false,
        ids: IDSource = .client,
        pushes: [PushOperation] = PushOperation.allCases, actions: [ActionRule] = [],
        updates: UpdateContent = .whole,
        retriesRefused: Bool = false, match: [String] = [],
        absence: AbsenceRule = .deletes, access: AccessRule = AccessRule(),
        since: SinceRule? = nil, window: PullWindow? = nil, feed: FeedRule? = nil,
        lists: [ListRule]? = nil, listLimit: Int? = nil, failedPage: FailedPageRule = .next,
        embeds: [EmbedRule] = [], withholdsTrees: Bool = false,
        listedAfter: [CollectionName] = [],
        listEvery: TimeSpan = .zero, allOrNone: String? = nil,
        choices: [ChoiceRule] = [], rivals: RivalRule? = nil,
        placeholder: PlaceholderRule? = nil, retention: RetentionRule? = nil,
        contents: [ContentRule] = [], keyed: [KeyedList] = [], tree: TreeRule? = nil
    ) {
        self.name = name
        self.idField = idField
        self.lastChangeField = lastChangeField
        self.conflict = conflict
        self.references = references
        self.pageSize = pageSize
        self.pagesMax = pagesMax
        self.dates = dates
        self.keys = keys
        self.nullable = nullable
        self.indexes = indexes
        self.migrations = migrations
        self.forms = forms
        self.drops = drops
        self.localOnly = localOnly
        self.ids = ids
        self.pushes = pushes
        self.actions = actions
        self.updates = updates
        self.retriesRefused = retriesRefused
        self.match = match
        self.absence = absence
        self.access = access
        self.since = since
        self.window = window
        self.feed = feed
        self.lists = lists
        self.listLimit = listLimit
        self.failedPage = failedPage
        self.embeds = embeds
        self.withholdsTrees = withholdsTrees
        self.listedAfter = listedAfter
        self.listEvery = listEvery
        self.allOrNone = allOrNone
        self.choices = choices
        self.rivals = rivals
        self.placeholder = placeholder
        self.retention = retention
        self.contents = contents
        self.keyed = keyed
        self.tree = tree
    }

    /// The fields that only the server sets: never sent as a change, never in conflict.
    public var serverFields: Set<String> {
        var fields: Set<String> = [idField]
        if let lastChangeField { fields.insert(lastChangeField) }
        return fields
    }

    /// Whether only the server sets a field; see ``serverFields``.
    package func isOfServer(_ field: String) -> Bool {
        field == idField || field == lastChangeField
    }

    /// Whether a list of everything concludes anything about entities that it does not name.
    package var isSwept: Bool { access.hidesAbsent || absence == .deletes }
}

extension CollectionModel: ModelObject {
    static let blank = CollectionModel("")

    static let members: [ModelMember<CollectionModel>] = formats + rules

    private static let formats: [ModelMember<CollectionModel>] = [
        ModelMember(
            "name", \.name, .collectionName, isNeeded: true,
            "The collection's name, as the server knows it."),
        ModelMember(
            "idField", \.idField, .text, older: [.name("id")], "The field that holds the id."),
        ModelMember(
            "lastChangeField", \.lastChangeField, .text, older: [.name("lastChange")],
            """
            The field that holds the server's last-change time or version; the adapter's own, \
            where it has one, unless given.
            """),
        ModelMember(
            "conflict", \.conflict, .conflict,
            "What becomes of local changes when the server changed the same entity."),
        ModelMember(
            "references", \.references, .references,
            """
            Fields that hold the id of another entity, or paths into fields as in JSON Pointer, \
            such as /from/person/id, each with that entity's collection: this one, or one that \
            stands earlier in the list.
            """),
        ModelMember(
            "pageSize", \.pageSize, .number(1...10_000),
            "How many entities a page of a list holds; the server's choice unless given."),
        ModelMember(
            "pagesMax", \.pagesMax, .number(1...1_000_000),
            """
            How many pages a list has at most, those of all runs that it takes; a longer one \
            fails, and what it brought stays.
            """),
        ModelMember(
            "dates", \.dates, .word,
            "How the server writes times: RFC 3339 texts, seconds or milliseconds since 1970."),
        ModelMember(
            "keys", \.keys, .word,
            "How the server names what the app's types call in camel case."),
        ModelMember(
            "nullable", \.nullable, ModelCodec.text.list(),
            "The fields that become null when they lose their value; others are left out then."),
        ModelMember(
            "indexes", \.indexes, ModelCodec.index.list(0...indexesMax, isSet: true),
            "The indexes that are kept for queries, each once; references have one of their own."),
        ModelMember(
            "migrations", \.migrations, ModelCodec.migration.list(),
            """
            How documents and edits of older models are read, the oldest step first. A field that \
            was renamed or removed is named nowhere else in the collection.
            """),
        ModelMember(
            "forms", \.forms, ModelCodec.form.list(),
            """
            Fields that the server writes otherwise than they are read here: a negative number \
            that stands for null, and times that count to the second.
            """),
        ModelMember(
            "drops", \.drops, ModelCodec.text.list(isSet: true),
            """
            Members of what the server sends, at any depth, that are cut off before anything is \
            logged or compared.
            """),
    ]

    private static let rules: [ModelMember<CollectionModel>] = [
        ModelMember(
            "localOnly", \.localOnly, .flag,
            """
            Whether its entities are kept on this device alone: they are never listed and never \
            sent.
            """),
        ModelMember(
            "ids", \.ids, .word,
            "Who names new entities: the app, or the server, with a text or a number."),
        ModelMember(
            "pushes", \.pushes, .pushes, older: [.name("push")],
            "Which local changes are pushed; any other is refused."),
        ModelMember(
            "actions", \.actions,
            ActionRule.codec("action").named(by: \.name, "an object of action to rule is needed"),
            """
            What the server does with an entity when it is asked to, by names that its adapter \
            knows.
            """),
        ModelMember(
            "updates", \.updates, .word,
            "What an update sends: the whole document, or what changed, where the adapter can."),
        ModelMember(
            "retriesRefused", \.retriesRefused, .flag,
            """
            Whether what the server refused is sent again in every run; otherwise it waits for an \
            edit or a retry.
            """),
        ModelMember(
            "match", \.match, ModelCodec.text.list(),
            """
            The fields by which an entity that was sent and never answered is recognised in a \
            list, where the server names entities.
            """),
        ModelMember(
            "absence", \.absence, .word,
            """
            What it means that a list of everything does not name an entity: it was deleted, or \
            nothing. With neither cursors nor since, each is asked for first.
            """),
        ModelMember(
            "access", \.access, AccessRule.codec("access"),
            older: [
                .absenceHides, .inGroup("owner", as: "owner", ModelCodec.text.schema),
                .inGroup("required", as: "missing", ModelCodec.text.schema),
                .inGroup("restartsOnGain", as: "relistsOnGain", ModelCodec.flag.schema),
            ],
            "How the user gets and loses access to entities."),
        ModelMember(
            "since", \.since, SinceRule.codec("since"),
            "Only what changed since the last change that was seen is listed."),
        ModelMember(
            "window", \.window, PullWindow.codec("window"),
            "The span around now that is listed when everything is; all unless given."),
        ModelMember(
            "feed", \.feed, FeedRule.codec("feed"),
            "It is listed in blocks, the newest first, by fields of its records."),
        ModelMember(
            "lists", \.lists, ListRule.codec("list").list(),
            """
            The parts that it is listed in, each by a list of its own with parameters for the \
            server; none where the list is empty, one list of all unless given.
            """),
        ModelMember(
            "listLimit", \.listLimit, .number(1...1_000_000),
            """
            How many entities its lists of everything ask for together at most, shared evenly by \
            those without a limit of their own; what one leaves, others get. All unless given.
            """),
        ModelMember(
            "failedPage", \.failedPage, .word,
            """
            Whether the next page is asked for after one that fails, where the server's pages have \
            numbers, or the list ends there. Either way it is made again in the next run.
            """),
        ModelMember(
            "embeds", \.embeds, .embeds,
            """
            Members in which the server sends entities of other collections, each with that \
            collection: they become entities of their own, and refer to this one.
            """),
        ModelMember(
            "withholdsTrees", \.withholdsTrees, .flag,
            """
            Whether what a list says of an entity is left out, with all that stands in it, while \
            anything in its tree waits for the server, was refused or has a warning.
            """),
        ModelMember(
            "listedAfter", \.listedAfter, ModelCodec.collectionName.list(),
            older: [.name("after")],
            """
            The collections whose lists must be here before this one's is asked for, where \
            several are asked for at once; each stands earlier in the list.
            """),
        ModelMember(
            "listEvery", \.listEvery, .span(to: .days(365), such: "PT1H"),
            """
            How old the last list may be that is made anew only in a run that the user, new \
            credentials or the server's word that something changed ask for; PT0S for a list in \
            every run.
            """),
        ModelMember(
            "allOrNone", \.allOrNone, .text,
            """
            The name of a set of collections, only read, of which all is listed or nothing: what \
            their lists bring is seen once all of them came to their end in one run.
            """),
        ModelMember(
            "choices", \.choices,
            ChoiceRule.codec("choice").named(by: \.field, "an object of field to choice is needed"),
            """
            Fields that must name an entity of another collection: where one is null and there \
            is just one entity, it is that one.
            """),
        ModelMember(
            "rivals", \.rivals, RivalRule.codec("rivals"),
            "Entities that may not hold a state together: one keeps it, the others end it."),
        ModelMember(
            "placeholder", \.placeholder, PlaceholderRule.codec("placeholder"),
            "What stands in for an entity that is referred to and not here."),
        ModelMember(
            "retention", \.retention, RetentionRule.codec("retention"),
            "How long entities are kept; for ever unless given."),
        ModelMember(
            "contents", \.contents,
            ContentRule.codec("content").named(
                by: \.field, "an object of field to options is needed"),
            """
            Fields that name files to be had beside the entities, by a URL or an id; or a path \
            into one, as in JSON Pointer, where * stands for every element.
            """),
        ModelMember(
            "keyed", \.keyed, .keyedLists,
            """
            Lists whose elements are told by a member, a text or a number: they are changed, \
            merged and in conflict one by one.
            """),
        ModelMember(
            "tree", \.tree, TreeRule.codec("tree"),
            """
            Its entities lie in each other under names, as files in folders do, by fields that say \
            where and how each is called.
            """),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        if let owner = access.owner, !references.contains(where: { $0.field == owner }) {
            return ModelProblem("access.owner", "\"\(owner)\" must be one of the references")
        }
        let together = placeholder?.refetch.together
        if let together, !references.contains(where: { $0.field == together }) {
            return ModelProblem(
                "placeholder.refetch.together", "\"\(together)\" must be one of the references")
        }
        let problem =
            problemOfPaths() ?? problemOfLists() ?? problemOfForms() ?? problemOfContents()
            ?? problemOfKeyed()
        if let problem {
            return problem
        }
        let gone = goneNames.names
        for (index, migration) in migrations.enumerated() {
            guard let name = migration.retired, gone.contains(name) else { continue }
            var used = indexes.flatMap { $0.fields.map { FieldPath($0.name).top } }
            used += references.map(\.topField)
            used += [idField] + [lastChangeField].compactMap(\.self)
            used += [tree?.parent, tree?.name, tree?.kind, tree?.serverID].compactMap(\.self)
            if used.contains(name) {
                return ModelProblem(
                    "migrations[\(index)]", "\"\(name)\" is gone, but the model still names it")
            }
        }
        return nil
    }
}

extension ModelCodec where Value == [PushOperation] {
    /// Operations in their usual order, each once.
    static let pushes: ModelCodec = {
        let list = ModelCodec<PushOperation>.word.list()
        return ModelCodec(
            schema: list.schema, wanted: list.wanted,
            read: { (value, place) throws(ModelError) in
                let words = try list.read(value, place)
                return PushOperation.allCases.filter(words.contains)
            },
            write: list.write)
    }()
}

extension OlderSpelling {
    /// Earlier models said under `absence` that absent entities are hidden.
    fileprivate static let absenceHides = OlderSpelling(
        names: ["absence"], schema: ["const": "hides"]
    ) { values in
        guard values[0] == "hides" else { return Optional.none }
        return ["hidesAbsent": true]
    }
}
