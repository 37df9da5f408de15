// AdapterCheck.swift — what an adapter of one's own gets wrong, told before a user finds it.
//
//   requests   AdapterCheck+Requests.swift   each call that a model asks for has one, and its ids
//   answers    AdapterCheck+Answers.swift    statuses and bodies that any server may send
//   successes  AdapterCheck+Successes.swift  the server's own, as the author gives them
//
// Only what a run would mind is checked, by the functions that judge answers in a run.

public import TidemarkEvents
public import TidemarkSync

/// Checks an adapter: the requests that it makes for a model, and what it makes of answers.
///
/// It asks for every call that the model needs, for the collections of the samples, and needs
/// neither store nor network.
public struct AdapterCheck: Sendable {
    /// An entity as an app writes it.
    struct Sample: Sendable {
        var key: EntityKey
        var document: [UInt8]
    }

    let adapter: any ServerAdapter
    let model: SyncModel
    let samples: [Sample]
    let deleted: [EntityKey]
    let errors: [Int: String]
    let success: @Sendable (ServerCall, ServerRequest) -> TransportResponse?

    /// What is answered by error statuses unless said otherwise: sentences, as plain text.
    public static let usualErrors = [
        400: "the title is missing", 404: "", 409: "the title is taken", 410: "", 412: "",
        422: "the title is too long",
    ]

    /// A check.
    ///
    /// - Parameters:
    ///   - adapter: what is checked.
    ///   - model: what is synced by it.
    ///   - samples: documents of entities that can be created, changed and deleted, by the server's
    ///     ids; of a tree by paths, by paths.
    ///   - deleted: entities that the sample lists tell as deleted.
    ///   - errors: the bodies of the server's errors, by status. Leave out the statuses that it
    ///     never answers with; 401, 403, 429, 500 and 503 are tried in any case.
    ///   - success: what the server answers to a call, with this request, where all is well. Where
    ///     it is nil, no success of that call is checked. Lists name all samples.
    public init(
        _ adapter: any ServerAdapter, model: SyncModel, samples: [EntityKey: String],
        deleted: [EntityKey] = [], errors: [Int: String] = AdapterCheck.usualErrors,
        success: @escaping @Sendable (ServerCall, ServerRequest) -> TransportResponse?
    ) {
        self.adapter = adapter
        self.model = model
        self.samples = samples.sorted { $0.key < $1.key }
            .map { Sample(key: $0.key, document: Array($0.value.utf8)) }
        self.deleted = deleted
        self.errors = errors
        self.success = success
    }

    /// What is wrong, each as a sentence: of which call and answer, what comes of it, and what to
    /// do; none where all is well.
    public func problems() -> [String] {
        let registration = ModelRegistration(model: model)
        do throws(ModelError) {
            _ = try registration.checked()
            try adapter.check(registration)
        } catch { return ["the model: \(error)"] }
        var run = Run(check: self)
        run.checkSamples()
        for collection in model.collections where !collection.localOnly {
            run.checkCollection(collection)
        }
        if adapter.traits.describesCollections {
            run.checkReading(.describe(model.collections))
        }
        let combined = model.collections.filter { adapter.traits.combined.contains($0.name) }
        if !combined.isEmpty { run.checkReading(.combined(combined)) }
        var told: Set<String> = []
        return run.found.filter { told.insert($0).inserted }
    }

    /// One pass over all calls.
    struct Run {
        let check: AdapterCheck
        var found: [String] = []
        /// The versions that sample answers tell.
        var revisions: [EntityKey: Revision] = [:]
        /// What lists tell as deleted.
        var gone: Set<EntityKey> = []

        var adapter: any ServerAdapter { check.adapter }

        mutating func tell(_ call: ServerCall, _ problem: String) {
            found.append("\(call.sentence): \(problem)")
        }
    }
}

extension AdapterCheck.Run {
    mutating func checkSamples() {
        for sample in check.samples {
            let key = sample.key
            guard let collection = check.model[key.collection] else {
                found.append("the sample \(key): the model has no such collection; add it")
                continue
            }
            guard let document = try? JSONDocument(parsing: sample.document) else {
                found.append("the sample \(key): it is no JSON object; correct it")
                continue
            }
            let id = document.value(collection.idField)?.idText
            if let id, id != key.id, !collection.isByPath {
                found.append(
                    "the sample \(key): its \(collection.idField) is \(id); give it under that id")
            }
        }
    }

    mutating func checkCollection(_ collection: CollectionModel) {
        checkTraits(collection)
        for call in lists(of: collection) {
            guard let page = checkReading(call) else { continue }
            checkNextLists(after: page, call, collection)
        }
        let samples = check.samples.filter {
            $0.key.collection == collection.name
                && (try? JSONDocument(parsing: $0.document)) != nil
        }
        for call in reads(of: samples, collection) { checkReading(call) }
        for key in check.deleted where key.collection == collection.name && !gone.contains(key) {
            found.append(
                "the lists of \(collection.name): none tells that \(key.id) is deleted, so it "
                    + "stays here until the next whole list; give a ServerRecord with isDeleted")
        }
        for sample in samples { checkFiles(of: sample, collection) }
        checkForms(collection)
        for (index, sample) in samples.enumerated() {
            for call in writes(of: sample, collection) { checkWriting(call, isFirst: index == 0) }
        }
        guard let first = samples.first else { return }
        checkBatch(samples, collection)
        checkIDs(first, collection)
    }

    private mutating func checkTraits(_ collection: CollectionModel) {
        guard collection.updates == .changes, collection.pushes.contains(.update),
            !adapter.traits.sendsChanges
        else { return }
        found.append(
            "the model has \(collection.name) send changes, and the adapter can't, so every "
                + "update is refused; say sendsChanges in its traits, or leave updates out")
    }

    /// Files that records name, and where they lie.
    private mutating func checkFiles(
        of sample: AdapterCheck.Sample, _ collection: CollectionModel
    ) {
        guard let document = try? JSONValue(parsing: sample.document) else { return }
        for rule in collection.contents where !rule.steps.contains("*") {
            var value: JSONValue? = document
            for step in rule.steps { value = value?[step] }
            guard let value, case .source(let name)? = ContentName(value),
                let place = adapter.address(ofFile: name, in: rule.field, of: sample.key),
                FileAddress(place, remote: "https://server.example") == nil
            else { continue }
            found.append(
                "the file that \(sample.key) names in \(rule.field): \"\(place)\" is no address, "
                    + "so it is never fetched; give a path or a URL in address(ofFile:in:of:)")
        }
    }

    /// How files are POSTed.
    private mutating func checkForms(_ collection: CollectionModel) {
        let digest = String(repeating: "0", count: 64)
        for rule in collection.contents {
            let file = FileToSend(sha256: digest, head: [], collection: collection.name)
            guard let upload = rule.upload,
                ContentRule.sending(digest, to: upload).method == "POST",
                let form = adapter.form(of: file)
            else { continue }
            let place = "the form of a file in \(collection.name).\(rule.field)"
            if form != adapter.form(of: file) {
                found.append(
                    "\(place): it is another one each time; make it of what names the file alone")
            }
            let type = form.contentType
            guard let mark = type.firstRange(of: "boundary=") else {
                if type.hasPrefix("multipart/") {
                    found.append("\(place): its type names no boundary; add boundary=…")
                }
                continue
            }
            let boundary = type[mark.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" }
            let (before, after) = (
                String(decoding: form.before, as: UTF8.self),
                String(decoding: form.after, as: UTF8.self)
            )
            if !before.contains("--\(boundary)") || !after.contains("--\(boundary)--") {
                found.append(
                    "\(place): the boundary of its type does not stand around the file; begin with "
                        + "--\(boundary) and end with --\(boundary)--")
            }
        }
    }
}

extension ServerCall {
    /// The call in a few words.
    var sentence: String {
        let name = collection.map { "\($0.name)" } ?? ""
        return switch self {
        case .describe: "the question for collections"
        case .list(_, after: nil, page: nil): "the list of \(name)"
        case .list(_, after: _?, page: nil): "the list of changes of \(name)"
        case .list: "a further page of \(name)"
        case .listWindow: "the list of \(name) in a window"
        case .listPart: "a list of a part of \(name)"
        case .feed(_, let block): "the feed of \(name) by \(block.field)"
        case .combined: "the question for several lists"
        case .refetch: "the refetch of \(name)"
        case .read(_, let id): "the read of \(name)/\(id)"
        case .fetch: "the fetch of \(name)"
        case .create: "the creation of \(name)"
        case .update: "the update of \(name)"
        case .delete: "the deletion of \(name)"
        case .perform(_, _, let action, _, _): "the action \(action) of \(name)"
        case .reserve(let pool, _, _, _): "the question for values of \(pool)"
        case .batch: "the batch of \(name)"
        case .poll: "the question for a promised answer"
        }
    }

    /// Whether it asks for something, and changes nothing.
    var isReading: Bool { !isWrite }
}
