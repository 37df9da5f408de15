// ContradictingModel.swift — models that contradict themselves, for each contradiction there is.

import Testing

/// A model that contradicts itself, and the two members that do.
struct ContradictingModel: Sendable, CustomTestStringConvertible {
    var member: String
    var other: String
    /// The members of the collection `entries`.
    var text: String

    var testDescription: String { "\(member) and \(other)" }

    var document: [UInt8] {
        let plain = #"{"name":"plain","pushes":[],"drops":["z"]}"#
        let places = #"{"name":"places","placeholder":{},"access":{"hidesAbsent":true}}"#
        let other =
            #"{"name":"other","pushes":[],"drops":["a"],"references":{"e":"entries"}}"#
        let entries = #"{"name":"entries",\#(text)}"#
        return Array(
            #"{"collections":[\#(plain),\#(places),\#(entries),\#(other)]}"#.utf8)
    }

    static let all = others + local + dropped

    /// What only means something with a server, of a collection that is kept on the device alone.
    private static let local: [ContradictingModel] = [
        ("lastChangeField", #""at""#), ("conflict", #""localWins""#), ("pageSize", "10"),
        ("pagesMax", "5"), ("forms", #"[{"wholeSeconds":"a"}]"#), ("drops", #"["a"]"#),
        ("ids", #""serverText""#), ("pushes", "[]"), ("actions", #"{"copy":{}}"#),
        ("updates", #""changes""#), ("retriesRefused", "true"), ("match", #"["a"]"#),
        ("absence", #""keeps""#), ("access", #"{"missing":"none"}"#),
        ("since", #"{"ageMax":"P2M"}"#), ("window", #"{"back":"P2M"}"#),
        ("feed", #"{"order":"a","change":"b"}"#), ("lists", "[]"), ("listLimit", "5"),
        ("failedPage", #""endsList""#), ("embeds", #"{"a":"plain"}"#),
        ("withholdsTrees", "true"), ("listedAfter", #"["plain"]"#), ("listEvery", #""PT1H""#),
        ("allOrNone", #""metadata""#),
        ("choices", #"{"p":{"collection":"places","missing":"none"}}"#),
        ("rivals", #"{"whileNull":"end","start":"start"}"#), ("placeholder", "{}"),
        ("retention", #"{"field":"at","ageMax":"P2M"}"#), ("contents", #"{"c":{}}"#),
        ("tree", #"{"parent":"in","name":"title"}"#),
        ("references", #"{"p":{"collection":"places","missing":"hides"}}"#),
    ].map { member, value in
        let text = #""localOnly":true,"\#(member)":\#(value)"#
        return ContradictingModel(member: member, other: "localOnly", text: text)
    }

    private static let others: [ContradictingModel] = [
        .init(member: "match", other: "ids", text: #""match":["title"]"#),
        .init(member: "match", other: "idField", text: #""ids":"serverText","match":["id"]"#),
        .init(
            member: "match", other: "lastChangeField",
            text: #""ids":"serverText","lastChangeField":"at","match":["at"]"#),
        .init(member: "match", other: "match", text: #""ids":"serverText","match":["/x/name"]"#),
        .init(
            member: "choices", other: "choices",
            text: #""choices":{"/p/q":{"collection":"places","missing":"none"}}"#),
        .init(
            member: "rivals", other: "rivals",
            text: #""rivals":{"whileNull":"end","start":"start","among":["/by/id"]}"#),
        .init(member: "feed", other: "feed", text: #""feed":{"order":"/a/at","change":"b"}"#),
        .init(
            member: "retention.field", other: "retention.field",
            text: #""retention":{"field":"/a/at","ageMax":"P2M"}"#),
        .init(
            member: "conflict.preferNewer.field", other: "conflict.preferNewer.field",
            text: #""conflict":{"preferNewer":{"field":"/a/at"}}"#),
        .init(member: "keyed", other: "keyed", text: #""keyed":{"p":"/a/k"}"#),
        .init(member: "forms", other: "forms", text: #""forms":[{"wholeSeconds":"/a/at"}]"#),
        .init(
            member: "forms", other: "forms",
            text: #""forms":[{"negativeIsNull":"p","sentMinus":"/a/at"}],"nullable":["p"]"#),
        .init(member: "nullable", other: "nullable", text: #""nullable":["/a/at"]"#),
        .init(member: "lastChangeField", other: "idField", text: #""lastChangeField":"id""#),
        .init(
            member: "since.overlap", other: "since.ageMax",
            text: #""since":{"ageMax":"PT1H","overlap":"PT1H"}"#),
        .init(member: "window", other: "absence", text: #""window":{"back":"P2M"}"#),
        .init(
            member: "window", other: "access.hidesAbsent",
            text: #""window":{"back":"P2M"},"access":{"hidesAbsent":true}"#),
        .init(
            member: "feed", other: "since",
            text: #""feed":{"order":"a","change":"b"},"since":{"ageMax":"P2M"}"#),
        .init(
            member: "feed", other: "window",
            text: #""absence":"keeps","feed":{"order":"a","change":"b"},"window":{"back":"P2M"}"#),
        .init(
            member: "feed", other: "pageSize",
            text: #""feed":{"order":"a","change":"b"},"pageSize":10"#),
        .init(
            member: "feed.order", other: "idField",
            text: #""feed":{"order":"a","change":"id"}"#),
        .init(
            member: "feed.reconcileEvery", other: "absence",
            text: #"""
                "absence":"keeps","feed":{"order":"a","change":"b","reconcileEvery":"P7D"}
                """#),
        .init(
            member: "feed", other: "forms",
            text: #""feed":{"order":"a","change":"b"},"forms":[{"wholeSeconds":"a"}]"#),
        .init(
            member: "lists", other: "feed",
            text: #""lists":[],"feed":{"order":"a","change":"b"}"#),
        .init(
            member: "lists", other: "window",
            text: #""absence":"keeps","lists":[{"limit":5}],"window":{"back":"P2M"}"#),
        .init(
            member: "lists", other: "access.hidesAbsent",
            text: #""lists":[{"parameters":{"p":"1"}}],"access":{"hidesAbsent":true}"#),
        .init(member: "lists", other: "ids", text: #""lists":[],"ids":"serverText""#),
        .init(member: "lists", other: "listEvery", text: #""lists":[],"listEvery":"PT1H""#),
        .init(
            member: "lists", other: "from",
            text: #""lists":[{"from":{"p":{"collection":"nowhere"}}}]"#),
        .init(member: "embeds", other: "references", text: #""embeds":{"a":"nowhere"}"#),
        .init(member: "embeds", other: "references", text: #""embeds":{"a":"entries"}"#),
        .init(member: "embeds", other: "references", text: #""embeds":{"a":"plain"}"#),
        .init(
            member: "embeds", other: "feed",
            text: #""embeds":{"a":"other"},"feed":{"order":"a","change":"b"}"#),
        .init(
            member: "references", other: "pushes",
            text: #"""
                "pushes":["update"],
                "references":{"p":{"collection":"places","onDelete":"cascade"}}
                """#),
        .init(
            member: "access.hidesAbsent", other: "absence",
            text: #""absence":"keeps","access":{"hidesAbsent":true}"#),
        .init(
            member: "access.owner", other: "references",
            text: #""references":{"x":"plain"},"access":{"owner":"x"}"#),
        .init(
            member: "references", other: "rollUp",
            text: #""references":{"x":{"collection":"entries","rollUp":true}}"#),
        .init(
            member: "access.owner", other: "references",
            text: #""references":{"x":"entries"},"access":{"owner":"x"}"#),
        .init(
            member: "access.relistsOnGain", other: "access.hidesAbsent",
            text: #""access":{"relistsOnGain":true}"#),
        .init(
            member: "choices", other: "pushes",
            text: #""pushes":[],"choices":{"p":{"collection":"places","missing":"none"}}"#),
        .init(
            member: "rivals", other: "pushes",
            text: #""pushes":["create"],"rivals":{"whileNull":"end","start":"start"}"#),
        .init(
            member: "tree.parent", other: "references",
            text: #""tree":{"parent":"in","name":"title"}"#),
        .init(
            member: "tree.name", other: "tree.parent",
            text: #""references":{"in":"entries"},"tree":{"parent":"in","name":"in"}"#),
        .init(
            member: "tree.serverID", other: "tree.isByPath",
            text: #"""
                "references":{"in":"entries"},"tree":{"parent":"in","name":"n","serverID":"i"}
                """#),
        .init(
            member: "tree.folderVersionsMove", other: "tree.isByPath",
            text: #"""
                "references":{"in":"entries"},
                "tree":{"parent":"in","name":"n","folderVersionsMove":true}
                """#),
        .init(
            member: "tree.isByPath", other: "tree.kind",
            text: #"""
                "references":{"in":"entries"},"tree":{"parent":"in","name":"n","isByPath":true}
                """#),
        .init(
            member: "actions.source", other: "actions.waitsForTree",
            text: #""actions":{"copy":{"source":"of","waitsForTree":true}}"#),
        .init(
            member: "actions.source", other: "actions.grants",
            text: #""actions":{"copy":{"source":"of","grants":"PT2H"}}"#),
        .init(
            member: "conflict", other: "tree.content", text: #""conflict":"keepBoth""#),
        .init(
            member: "conflict", other: "retriesRefused",
            text: #""conflict":"ask","retriesRefused":true"#),
        .init(
            member: "tree.content", other: "tree.isByPath",
            text: #"""
                "references":{"in":"entries"},"contents":{"c":{}},
                "tree":{"parent":"in","name":"n","content":"c"}
                """#),
        .init(
            member: "tree.content", other: "contents",
            text: #"""
                "references":{"in":"entries"},"contents":{"d":{}},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true,"content":"c"}
                """#),
        .init(
            member: "tree.content", other: "tree.name",
            text: #"""
                "references":{"in":"entries"},"contents":{"n":{}},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true,"content":"n"}
                """#),
        .init(
            member: "contents", other: "tree.content",
            text: #"""
                "references":{"in":"entries"},"contents":{"c":{"upload":"/f"}},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true,"content":"c"}
                """#),
        .init(
            member: "ids", other: "tree.isByPath",
            text: #"""
                "ids":"serverText","references":{"in":"entries"},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true}
                """#),
        .init(
            member: "retention", other: "tree",
            text: #"""
                "retention":{"field":"at","ageMax":"P2M"},"references":{"in":"entries"},
                "tree":{"parent":"in","name":"n"}
                """#),
        .init(
            member: "since", other: "tree.isByPath",
            text: #"""
                "lastChangeField":"at","since":{"ageMax":"P2M"},"references":{"in":"entries"},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true}
                """#),
        .init(
            member: "window", other: "tree.isByPath",
            text: #"""
                "absence":"keeps","window":{"back":"P2M"},"references":{"in":"entries"},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true}
                """#),
        .init(
            member: "feed", other: "tree.isByPath",
            text: #"""
                "feed":{"order":"a","change":"b"},"references":{"in":"entries"},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true}
                """#),
        .init(
            member: "lists", other: "tree.isByPath",
            text: #"""
                "lists":[{"limit":5}],"references":{"in":"entries"},
                "tree":{"parent":"in","name":"n","kind":"k","isByPath":true}
                """#),
        .init(
            member: "choices", other: "idField",
            text: #""choices":{"id":{"collection":"places","missing":"none"}}"#),
        .init(
            member: "choices", other: "references",
            text: #"""
                "references":{"p":"entries"},"choices":{"p":{"collection":"places","missing":"x"}}
                """#),
        .init(
            member: "references", other: "access",
            text: #"""
                "references":{"p":{"collection":"places","missing":"hides"}},"access":{"owner":"p"}
                """#),
        .init(member: "allOrNone", other: "pushes", text: #""allOrNone":"metadata""#),
        .init(
            member: "allOrNone", other: "lists",
            text: #""allOrNone":"metadata","pushes":[],"lists":[{"limit":5}]"#),
        .init(
            member: "allOrNone", other: "lists",
            text: #""allOrNone":"metadata","pushes":[],"access":{"missing":"none"}"#),
        .init(
            member: "placeholder.refetch.every", other: "references",
            text: #""placeholder":{"refetch":{"every":"P1D"}}"#),
        .init(
            member: "placeholder.refetch.together", other: "placeholder.refetch.every",
            text: #""references":{"p":"places"},"placeholder":{"refetch":{"together":"p"}}"#),
        .init(
            member: "placeholder.fields", other: "idField",
            text: #""placeholder":{"fields":{"id":1}}"#),
        .init(
            member: "rivals.whileNull", other: "idField",
            text: #""rivals":{"whileNull":"id","start":"start"}"#),
        .init(
            member: "rivals.whileNull", other: "lastChangeField",
            text: #""lastChangeField":"at","rivals":{"whileNull":"at","start":"start"}"#),
        .init(
            member: "rivals.start", other: "rivals.whileNull",
            text: #""rivals":{"whileNull":"end","start":"end"}"#),
        .init(
            member: "rivals.start", other: "idField",
            text: #""rivals":{"whileNull":"end","start":"id"}"#),
        .init(
            member: "rivals.stopped", other: "rivals.start",
            text: #""rivals":{"whileNull":"end","start":"start","stopped":"start"}"#),
        .init(
            member: "rivals.stopped", other: "rivals.whileNull",
            text: #""rivals":{"whileNull":"end","start":"start","stopped":"end"}"#),
        .init(
            member: "rivals.stopped", other: "idField",
            text: #""rivals":{"whileNull":"end","start":"start","stopped":"id"}"#),
        .init(
            member: "rivals.among", other: "rivals.whileNull",
            text: #""rivals":{"whileNull":"end","start":"start","among":["end"]}"#),
        .init(
            member: "rivals.among", other: "idField",
            text: #""rivals":{"whileNull":"end","start":"start","among":["id"]}"#),
        .init(
            member: "retention.field", other: "idField",
            text: #""retention":{"field":"id","ageMax":"P2M"}"#),
        .init(
            member: "retention.ageMax", other: "retention.field",
            text: #""retention":{"field":"start"}"#),
        .init(
            member: "conflict.preferNewer.field", other: "idField",
            text: #""conflict":{"preferNewer":{"field":"id"}}"#),
        .init(
            member: "forms", other: "idField",
            text: #""lastChangeField":"at","forms":[{"wholeSeconds":"at"}]"#),
        .init(
            member: "forms", other: "references",
            text: #""references":{"p":"places"},"forms":[{"wholeSeconds":"p"}]"#),
        .init(
            member: "forms", other: "nullable", text: #""forms":[{"negativeIsNull":"end"}]"#),
        .init(
            member: "rivals.end", other: "forms",
            text: #"""
                "nullable":["end"],"forms":[{"negativeIsNull":"end"}],
                "rivals":{"whileNull":"end","start":"start","end":"stopTime"}
                """#),
        .init(
            member: "forms", other: "migrations",
            text: #""forms":[{"wholeSeconds":"at"}],"migrations":[{"remove":"at"}]"#),
        .init(
            member: "forms", other: "migrations",
            text: #"""
                "forms":[{"negativeIsNull":"p","sentMinus":"at"}],"nullable":["p"],
                "migrations":[{"remove":"at"}]
                """#),
        .init(
            member: "updates", other: "pushes",
            text: #""updates":"changes","pushes":["create"]"#),
        .init(
            member: "migrations", other: "migrations",
            text: #""migrations":[{"rename":"a","to":"b"},{"rename":"c","to":"a"}]"#),
        .init(
            member: "match", other: "migrations",
            text: #""ids":"serverText","match":["at"],"migrations":[{"remove":"at"}]"#),
        .init(
            member: "choices", other: "migrations",
            text: #"""
                "choices":{"p":{"collection":"places","missing":"none"}},
                "migrations":[{"rename":"p","to":"q"}]
                """#),
        .init(
            member: "rivals", other: "migrations",
            text: #"""
                "rivals":{"whileNull":"end","start":"start","among":["by"]},
                "migrations":[{"remove":"by"}]
                """#),
        .init(
            member: "feed", other: "migrations",
            text: #""feed":{"order":"at","change":"b"},"migrations":[{"remove":"at"}]"#),
        .init(
            member: "retention.field", other: "migrations",
            text: #""retention":{"field":"at","ageMax":"P2M"},"migrations":[{"remove":"at"}]"#),
        .init(
            member: "conflict.preferNewer.field", other: "migrations",
            text: #""conflict":{"preferNewer":{"field":"at"}},"migrations":[{"remove":"at"}]"#),
        .init(member: "contents", other: "idField", text: #""contents":{"id":{}}"#),
        .init(
            member: "contents", other: "references",
            text: #""references":{"p":"places"},"contents":{"/p/url":{}}"#),
        .init(
            member: "contents", other: "choices",
            text: #"""
                "choices":{"p":{"collection":"places","missing":"none"}},"contents":{"p":{}}
                """#),
        .init(
            member: "contents", other: "rivals.whileNull",
            text: #""rivals":{"whileNull":"end","start":"start"},"contents":{"end":{}}"#),
        .init(
            member: "contents", other: "forms",
            text: #""forms":[{"wholeSeconds":"p"}],"contents":{"p":{}}"#),
        .init(
            member: "contents", other: "migrations",
            text: #""contents":{"at":{}},"migrations":[{"remove":"at"}]"#),
        .init(
            member: "contents", other: "migrations",
            text: #"""
                "contents":{"p":{"sha256":"hash"}},"migrations":[{"rename":"hash","to":"digest"}]
                """#),
        .init(
            member: "references", other: "migrations",
            text: #"""
                "references":{"p":{"collection":"places","rollUp":"both"}},
                "migrations":[{"rename":"both","to":"mutual"}]
                """#),
        .init(
            member: "references", other: "migrations",
            text: #"""
                "references":{"p":{"collection":"places","removal":{"names":"places"}}},
                "migrations":[{"remove":"places"}]
                """#),
        .init(member: "keyed", other: "idField", text: #""keyed":{"id":"k"}"#),
        .init(
            member: "keyed", other: "references",
            text: #""references":{"p":"places"},"keyed":{"p":"k"}"#),
        .init(
            member: "keyed", other: "choices",
            text: #"""
                "choices":{"p":{"collection":"places","missing":"none"}},"keyed":{"p":"k"}
                """#),
        .init(
            member: "keyed", other: "rivals",
            text: #""rivals":{"whileNull":"end","start":"start"},"keyed":{"start":"k"}"#),
        .init(
            member: "keyed", other: "forms",
            text: #""forms":[{"wholeSeconds":"p"}],"keyed":{"p":"k"}"#),
        .init(
            member: "keyed", other: "match",
            text: #""ids":"serverText","match":["p"],"keyed":{"p":"k"}"#),
        .init(
            member: "keyed", other: "feed",
            text: #""pushes":[],"feed":{"order":"a","change":"b"},"keyed":{"b":"k"}"#),
        .init(
            member: "keyed", other: "retention.field",
            text: #""retention":{"ageMax":"P7D","field":"at"},"keyed":{"at":"k"}"#),
        .init(
            member: "keyed", other: "conflict.preferNewer.field",
            text: #""conflict":{"preferNewer":{"field":"at"}},"keyed":{"at":"k"}"#),
        .init(
            member: "keyed", other: "forms",
            text: #"""
                "forms":[{"negativeIsNull":"p","sentMinus":"at"}],"nullable":["p"],
                "keyed":{"at":"k"}
                """#),
        .init(
            member: "keyed", other: "migrations",
            text: #""keyed":{"at":"k"},"migrations":[{"remove":"at"}]"#),
        .init(
            member: "nullable", other: "migrations",
            text: #""nullable":["at"],"migrations":[{"rename":"at","to":"on"}]"#),
        .init(
            member: "placeholder.fields", other: "migrations",
            text: #""placeholder":{"fields":{"at":1}},"migrations":[{"remove":"at"}]"#),
        .init(
            member: "placeholder.copies", other: "migrations",
            text: #""placeholder":{"copies":["at"]},"migrations":[{"remove":"at"}]"#),
    ]
}
