// PullTarget.swift — what one list is of.

/// The subject of one list of a pull: a collection, or a part of it that has a list of its own.
///
/// Watermarks, unfinished lists and restarts are kept by target.
package struct PullTarget: Sendable, Hashable {
    /// A parameter of the request.
    package struct Parameter: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var collection: CollectionName
    /// The part's name; empty for all of the collection.
    package var scope: String
    /// The parameters of requests for that part, in the order in which they are written.
    package var parameters: [Parameter]

    package init(
        _ collection: CollectionName, scope: String = "", parameters: [Parameter] = []
    ) {
        self.collection = collection
        self.scope = scope
        self.parameters = parameters
    }
}

extension PullTarget: ExpressibleByStringLiteral {
    /// All of a collection.
    package init(stringLiteral collection: String) { self.init(CollectionName(collection)) }
}

extension PullTarget: CustomStringConvertible {
    /// `tasks`, or `tasks/scope`.
    package var description: String {
        scope.isEmpty ? collection.rawValue : "\(collection)/\(scope)"
    }
}
