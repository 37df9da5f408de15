// FieldsOfTheServer.swift — what the article of that name shows; it is built here.

package import Tidemark

package enum FieldsOfTheServer {
    static func forms() -> CollectionModel {
        CollectionModel(
            "entries", nullable: ["duration"],
            forms: [.negativeIsNull("duration"), .wholeSeconds("start")])
    }

    static func drops() -> CollectionModel {
        CollectionModel("user", drops: ["api_token", "at"], updates: .changes)
    }

    package static func collections() -> [CollectionModel] { [forms(), drops()] }
}
