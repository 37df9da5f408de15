// URLSessionFields.swift — header fields with other characters than those of ASCII, through
// URLSession: an ETag may have the path of a file in it.
//
// Darwin takes and gives the bytes of a field one character each, as HTTPTypesFoundation does it.
// Linux takes and gives texts in UTF-8, so that each byte would become a character of its own.

import Foundation
import HTTPTypes
import HTTPTypesFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// A request with the bytes of its fields as they are; nil where it has no URL.
    init?(exact request: HTTPRequest) {
        self.init(httpRequest: request)
        #if canImport(FoundationNetworking)
            for field in request.headerFields where field.value.utf8.contains(where: { $0 > 0x7F })
            {
                setValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
        #endif
    }
}

extension HTTPURLResponse {
    /// The answer with the bytes of its fields as they are.
    var exactResponse: HTTPResponse? {
        guard var response = httpResponse else { return nil }
        #if canImport(FoundationNetworking)
            for (name, value) in allHeaderFields {
                guard let text = value as? String, text.utf8.contains(where: { $0 > 0x7F }),
                    let name = (name as? String).flatMap({ HTTPField.Name($0) })
                else { continue }
                response.headerFields[name] = text
            }
        #endif
        return response
    }
}
