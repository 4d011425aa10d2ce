/** Licence texts that must be shown with the libraries they cover. */

import reader from "../../../node_modules/occt-import-js/dist/license.occt-import-js.txt?url";
import kernel from "../../../node_modules/occt-import-js/dist/license.occt.txt?url";
import building from "../../../node_modules/web-ifc/LICENSE.md?url";

export const LICENCES = {
  step: [
    { name: "occt-import-js (LGPL-2.1)", url: reader },
    { name: "Open CASCADE (LGPL-2.1)", url: kernel },
  ],
  ifc: [{ name: "web-ifc (MPL-2.0)", url: building }],
};
