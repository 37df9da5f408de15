// FieldForm.swift — fields that a server writes otherwise than the model reads them. The log keeps
// the server's bytes; a form is applied where they are read, and undone where a call is made.
//
//   form             the server's        the model's             is sent as
//   negativeIsNull   -1, -1795000000     null                    a negative number
//   wholeSeconds     any writing         UTC, whole seconds      the same
//
// Reading is idempotent, because edits are logged as the model has them.

extension CollectionModel {
    /// How a server writes a field, where the model reads it otherwise.
    @nonexhaustive public enum FieldForm: Sendable, Hashable {
        /// A negative number stands for null, whichever it is.
        case negativeIsNull(String, sent: NegativeNumber = .number(-1))
        /// A time counts to the second: it is read and sent without fractions, in UTC.
        case wholeSeconds(String)

        /// The negative number that null is sent as.
        @nonexhaustive public enum NegativeNumber: Sendable, Hashable {
            /// This one.
            case number(Int)
            /// Minus the seconds from 1970 to the time in a field; −1 where there is none.
            case minusSeconds(of: String)
        }
    }
}

package typealias FieldForm = CollectionModel.FieldForm

extension FieldForm {
    /// The form as a model says it; the names of indexes are made of it.
    package var json: JSONValue { ModelCodec.form.write(self) }

    /// The field that it is about.
    package var field: String {
        switch self {
        case .negativeIsNull(let field, _), .wholeSeconds(let field): field
        }
    }

    /// The fields of the document by which it goes.
    var ruleFields: [String] {
        guard case .negativeIsNull(_, .minusSeconds(let time)) = self else { return [field] }
        return [field, time]
    }

    /// The JSON text of a value as the model has it; nil where that is the same.
    func read(_ raw: ArraySlice<UInt8>, _ dates: DateFormat) -> [UInt8]? {
        switch self {
        case .negativeIsNull: raw.isNegativeNumber ? Array("null".utf8) : nil
        case .wholeSeconds:
            dates.timestamp(raw).flatMap { time in
                let text = dates.encoded(time.inWholeSeconds)
                return raw.elementsEqual(text) ? nil : text
            }
        }
    }

    /// The JSON text of a value as it is sent; nil where that is the same.
    ///
    /// - Parameter whole: the document that it belongs to.
    fileprivate func sent(
        _ raw: ArraySlice<UInt8>, of whole: JSONDocument, _ dates: DateFormat
    ) -> [UInt8]? {
        guard case .negativeIsNull(_, let sent) = self, raw.elementsEqual("null".utf8) else {
            return nil
        }
        var number: Int64 = -1
        switch sent {
        case .number(let fixed): number = Int64(fixed)
        case .minusSeconds(let field):
            if let time = whole.rawValue(field).flatMap({ dates.timestamp($0) }) {
                number = min(-1, -(time.inWholeSeconds.rawValue / 1_000_000))
            }
        }
        return Array(String(number).utf8)
    }
}

extension CollectionModel {
    /// Whether documents are read as they lie in the log.
    package var readsVerbatim: Bool { migrations.isEmpty && forms.isEmpty }

    /// A document as today's model reads it; the same bytes where nothing differs.
    ///
    /// - Parameter bytes: an object that was checked before.
    package func read(_ bytes: [UInt8]) throws(JSONError) -> [UInt8] {
        if readsVerbatim { return bytes }
        if migrations.isEmpty {
            let values = JSON.members(forms.map { Array($0.field.utf8) }, of: bytes[...])
            let differs = zip(forms, values).contains { form, raw in
                raw.flatMap { form.read($0, dates) } != nil
            }
            if !differs { return bytes }
        }
        return try read(try JSONDocument(parsing: bytes)).bytes
    }

    /// A document as today's model reads it.
    package func read(_ document: JSONDocument) throws(JSONError) -> JSONDocument {
        let document = try migrated(document)
        let changes = forms.compactMap { form in
            document.rawValue(form.field).flatMap { form.read($0, dates) }.map {
                (key: form.field, value: $0)
            }
        }
        if changes.isEmpty { return document }
        return try JSONDocument(parsing: document.applying(set: changes))
    }

    /// A field's value in the form that it is read in; migrations are not applied.
    package func read(_ raw: ArraySlice<UInt8>, of field: String) -> ArraySlice<UInt8> {
        for form in forms where ExactString(form.field) == ExactString(field) {
            return form.read(raw, dates).map { $0[...] } ?? raw
        }
        return raw
    }

    /// An edit as today's model reads it.
    package func read(_ patch: Patch) -> Patch {
        var patch = migrated(patch)
        if forms.isEmpty { return patch }
        for index in patch.set.indices {
            let field = patch.set[index]
            patch.set[index].value = Array(read(field.value[...], of: field.name))
        }
        return patch
    }

    /// A creation as today's model reads it: what was removed is not sent.
    package func readCreation(_ document: JSONDocument) throws(JSONError) -> JSONDocument {
        let document = try migratedCreation(document)
        return forms.isEmpty ? document : try read(document)
    }

    /// An object of fields as they are sent: a document, or what changed of it.
    ///
    /// - Parameter whole: the document.
    package func sent(
        _ fields: JSONDocument, of whole: JSONDocument
    ) throws(JSONError) -> JSONDocument {
        let changes = forms.compactMap { form in
            fields.rawValue(form.field).flatMap { form.sent($0, of: whole, dates) }.map {
                (key: form.field, value: $0)
            }
        }
        if changes.isEmpty { return fields }
        return try JSONDocument(parsing: fields.applying(set: changes))
    }

    /// Whether the value of a field is null as the model reads it.
    package func isNull(_ raw: ArraySlice<UInt8>, in field: String) -> Bool {
        read(raw, of: field).elementsEqual("null".utf8)
    }

    /// What is wrong with the forms beside each other and the other members; nil for nothing.
    func problemOfForms() -> ModelProblem? {
        var seen: Set<ExactString> = []
        for (index, form) in forms.enumerated() {
            if !seen.insert(ExactString(form.field)).inserted {
                return ModelProblem("forms[\(index)]", "\"\(form.field)\" has a form already")
            }
            if case .negativeIsNull(let field, .minusSeconds(let time)) = form, field == time {
                return ModelProblem(
                    "forms[\(index)].sentMinus", "\"\(field)\" is the field itself; name a time")
            }
        }
        return nil
    }
}

extension Timestamp {
    /// The same without what is finer than a second, rounded down; held at the first whole second
    /// that there is.
    var inWholeSeconds: Timestamp {
        let rest = rawValue % 1_000_000
        let whole = rawValue - rest
        guard rest < 0 else { return Timestamp(rawValue: whole) }
        let (below, isTooEarly) = whole.subtractingReportingOverflow(1_000_000)
        return Timestamp(rawValue: isTooEarly ? whole : below)
    }
}

extension ArraySlice<UInt8> {
    /// Whether a JSON text is a number below 0.
    fileprivate var isNegativeNumber: Bool {
        guard first == UInt8(ascii: "-") else { return false }
        let digits = prefix { $0 | 0x20 != UInt8(ascii: "e") }
        return digits.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
    }
}

// MARK: - JSON

/// The members of a form in which a negative number is null.
private struct NegativeForm: ModelObject {
    var negativeIsNull = ""
    var sent = -1
    var sentMinus: String?

    static let blank = NegativeForm()
    static let members: [ModelMember<NegativeForm>] = [
        ModelMember(
            "negativeIsNull", \.negativeIsNull, .text, isNeeded: true,
            "The field in which a negative number stands for null."),
        ModelMember(
            "sent", \.sent, .number(-2_147_483_648 ... -1), "The number that null is sent as."),
        ModelMember(
            "sentMinus", \.sentMinus, .text,
            "The field with a time: null is sent as minus its seconds since 1970."),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        guard sentMinus != nil, given["sent"] != nil else { return nil }
        return ModelProblem("sentMinus", "null is sent as one number; leave sent out, or this")
    }
}

/// The members of a form in which a time counts to the second.
private struct SecondsForm: ModelObject {
    var wholeSeconds = ""

    static let blank = SecondsForm()
    static let members: [ModelMember<SecondsForm>] = [
        ModelMember(
            "wholeSeconds", \.wholeSeconds, .text, isNeeded: true,
            "The field with a time that counts to the second.")
    ]
}

extension ModelCodec where Value == FieldForm {
    /// An object of one of two shapes.
    static let form: ModelCodec = {
        let wanted =
            "{\"negativeIsNull\":…}, with sent or sentMinus where needed, or {\"wholeSeconds\":…}"
        return ModelCodec(
            schema: [
                "anyOf": [
                    .object(NegativeForm.schema("A negative number stands for null.")),
                    .object(SecondsForm.schema("A time counts to the second.")),
                ]
            ],
            wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let members = value.object else { throw place.error(wanted) }
                if members["negativeIsNull"] != nil {
                    let form = try NegativeForm(reading: value, at: place)
                    return .negativeIsNull(
                        form.negativeIsNull,
                        sent: form.sentMinus.map { .minusSeconds(of: $0) } ?? .number(form.sent))
                }
                guard members["wholeSeconds"] != nil else { throw place.error(wanted) }
                return .wholeSeconds(try SecondsForm(reading: value, at: place).wholeSeconds)
            },
            write: { form in
                switch form {
                case .negativeIsNull(let field, .number(let number)):
                    .object(NegativeForm(negativeIsNull: field, sent: number).json)
                case .negativeIsNull(let field, .minusSeconds(let time)):
                    .object(NegativeForm(negativeIsNull: field, sentMinus: time).json)
                case .wholeSeconds(let field): .object(SecondsForm(wholeSeconds: field).json)
                }
            })
    }()
}
