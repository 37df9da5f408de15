// ListsOfParts.swift — what the article of that name shows of collections that are listed in parts.

package import Tidemark

package enum ListsOfParts {
    package static func named() -> CollectionModel {
        let visits = CollectionModel(
            "visits", lists: [.init(["program": "P1", "unit": "O1"], limit: 500)])
        return visits
    }

    package static func fromDocuments() -> CollectionModel {
        let visits = CollectionModel(
            "visits",
            lists: [
                .init(
                    [:],
                    from: [
                        .init("program", in: "programs", each: true),
                        .init("unit", in: "account", field: "/units/*/id"),
                    ], limit: 500)
            ])
        return visits
    }
}
