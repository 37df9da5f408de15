// ContradictingModel+Drops.swift — models with `drops` of what other rules read.

extension ContradictingModel {
    static let dropped: [ContradictingModel] = [
        .init(member: "drops", other: "drops", text: #""drops":["/a/secret"],"pushes":[]"#),
        .init(member: "embeds", other: "drops", text: #""embeds":{"a":"other"}"#),
        .init(
            member: "drops", other: "feed",
            text: #""pushes":[],"feed":{"order":"a","change":"b"},"drops":["b"]"#),
        .init(
            member: "drops", other: "updates",
            text: #""drops":["secret"]"#),
        .init(
            member: "drops", other: "idField",
            text: #""drops":["id"],"pushes":[]"#),
        .init(
            member: "drops", other: "references",
            text: #""references":{"p":"places"},"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "references",
            text: #"""
                "references":{"p":{"collection":"places","removal":{"names":"n"}}},"drops":["n"],
                "pushes":[]
                """#),
        .init(
            member: "drops", other: "tree",
            text: #"""
                "references":{"in":"entries"},"tree":{"parent":"in","name":"n"},"drops":["n"],
                "pushes":[]
                """#),
        .init(
            member: "drops", other: "embeds",
            text: #""embeds":{"a":"other"},"drops":["a"],"pushes":[]"#),
        .init(
            member: "drops", other: "lists",
            text: #""lists":[{"parameters":{"p":"1"}}],"drops":["p"],"pushes":[]"#),
        .init(
            member: "lists", other: "drops",
            text: #""lists":[{"from":{"p":{"collection":"plain","field":"/y/z"}}}]"#),
        .init(
            member: "drops", other: "indexes",
            text: #""indexes":[["p"]],"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "forms",
            text: #""forms":[{"wholeSeconds":"p"}],"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "match",
            text: #""ids":"serverText","match":["p"],"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "retention.field",
            text: #""retention":{"field":"p","ageMax":"P2M"},"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "conflict.preferNewer.field",
            text: #""conflict":{"preferNewer":{"field":"p"}},"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "choices",
            text: #"""
                "choices":{"p":{"collection":"places","missing":"none"}},
                "drops":["p"],"updates":"changes"
                """#),
        .init(
            member: "drops", other: "rivals",
            text: #"""
                "rivals":{"whileNull":"end","start":"start"},
                "drops":["start"],"updates":"changes"
                """#),
        .init(
            member: "drops", other: "contents",
            text: #""contents":{"p":{}},"drops":["p"],"pushes":[]"#),
        .init(
            member: "drops", other: "contents",
            text: #""contents":{"/p/*/url":{"sha256":"h"}},"drops":["h"],"pushes":[]"#),
        .init(
            member: "drops", other: "keyed",
            text: #""keyed":{"p":"k"},"drops":["k"],"pushes":[]"#),
        .init(
            member: "drops", other: "forms",
            text: #"""
                "forms":[{"negativeIsNull":"p","sentMinus":"at"}],"nullable":["p"],
                "drops":["at"],"pushes":[]
                """#),
        .init(
            member: "references", other: "drops",
            text: #"""
                "references":{"p":{"collection":"plain","removal":{"names":"n","name":"z"}}}
                """#),
        .init(
            member: "placeholder.copies", other: "drops",
            text: #"""
                "references":{"p":{"collection":"entries","placeholder":"always"}},
                "placeholder":{"copies":["z"]},"drops":["z"],"pushes":[]
                """#),
        .init(
            member: "drops", other: "references",
            text: #"""
                "references":{"p":{"collection":"places","rollUp":"both"}},"drops":["both"],
                "pushes":[]
                """#),
        .init(
            member: "drops", other: "tree",
            text: #"""
                "references":{"in":"entries"},"tree":{"parent":"in","name":"n","kind":"k"},
                "drops":["k"],"pushes":[]
                """#),
        .init(
            member: "drops", other: "tree",
            text: #"""
                "references":{"in":"entries"},"drops":["i"],"pushes":[],"tree":{
                "parent":"in","name":"n","kind":"k","isByPath":true,"serverID":"i"}
                """#),
        .init(
            member: "drops", other: "contents",
            text: #""contents":{"/p/url":{}},"drops":["url"],"pushes":[]"#),
    ]
}
