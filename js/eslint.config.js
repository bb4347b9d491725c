// The panels' modules run in a browser, in strict mode, and put text of users on a page: what would make text into
// markup or into code is forbidden outright.

import eslint from "@eslint/js";
import globals from "globals";

const AS_MARKUP = ["innerHTML", "outerHTML"].map((property) => ({
  selector: `MemberExpression[property.name='${property}']`,
  message: "Text of users must not become markup: use make() and setText() of dom.js.",
}));
const MARKUP_CALLS = ["insertAdjacentHTML", "write", "writeln", "createContextualFragment", "parseFromString"].map((property) => ({
  selector: `CallExpression[callee.property.name='${property}']`,
  message: "Text of users must not become markup: use make() and setText() of dom.js.",
}));

export default [
  eslint.configs.recommended,
  {
    files: ["widgets/**/*.js", "build/page/**/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-control-regex": "off", // control characters in text of users are looked for on purpose
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-syntax": ["error", ...AS_MARKUP, ...MARKUP_CALLS],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
];
