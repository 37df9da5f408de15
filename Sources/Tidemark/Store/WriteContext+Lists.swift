// WriteContext+Lists.swift — lists whose elements are told by keys, in what the app writes.

import TidemarkEvents

extension WriteContext {
    /// Refuses a document with a list whose elements can't be told.
    func checkLists(
        of document: JSONDocument, _ key: EntityKey, _ collection: CollectionModel
    ) throws {
        for list in collection.keyed {
            if case .whole(let problem) = document.form(of: list) {
                throw Self.invalid(list, problem, key)
            }
        }
    }

    /// Refuses an edit that makes a list whose elements can't be told, or gives an element another
    /// key than its name says.
    func checkLists(_ patch: Patch, of key: EntityKey, _ collection: CollectionModel) throws {
        guard !collection.keyed.isEmpty else { return }
        for field in patch.set {
            if let list = collection.keyed.list(in: field.name),
                case .whole(let problem) = ListForm(field.value[...], of: list)
            {
                throw Self.invalid(list, problem, key)
            }
            guard let (list, name) = collection.keyed.element(field.name) else { continue }
            let isObject = (try? JSONDocument(parsing: field.value)) != nil
            let value = isObject ? list.keyValue(of: field.value[...]) : nil
            guard value.flatMap(KeyedList.key).map(ExactString.init) != ExactString(name) else {
                continue
            }
            throw TidemarkError(
                .invalidDocument,
                "\(key), \(field.name): an object is needed in which \(list.key) is \"\(name)\"; "
                    + "to remove the element, unset it", key: key)
        }
    }

    /// An edit as the changes that it makes, element by element in the lists whose elements are
    /// told by keys.
    func elementwise(
        _ patch: Patch, on old: JSONDocument, _ key: EntityKey, _ collection: CollectionModel
    ) throws -> Patch {
        try checkLists(patch, of: key, collection)
        let lists = collection.keyed
        for list in lists {
            guard case .whole(let problem) = old.form(of: list),
                patch.namesElements(of: [list]), patch.value(of: list.field) == nil
            else { continue }
            throw TidemarkError(
                .invalidDocument,
                "\(key), field \(list.field): its elements can't be changed one by one, because "
                    + "\(problem); set the whole list", key: key)
        }
        do {
            let new = try JSONDocument(parsing: patch.applied(to: old, lists))
            return Patch(from: old, to: new, lists)
        } catch { throw Self.invalid(error) }
    }

    private static func invalid(
        _ list: KeyedList, _ problem: KeyedListProblem, _ key: EntityKey
    ) -> TidemarkError {
        TidemarkError(
            .invalidDocument,
            "\(key), field \(list.field): \(problem); its elements are told by \(list.key), so "
                + "each needs one of its own: a text or a number", key: key)
    }
}
