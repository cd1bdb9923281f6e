//! The `#[raddle::test]` attribute. Written on plain token trees: it looks at the outline of one
//! function only, and users' test builds stay small.

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// A test whose body is checked under many interleavings: `#[raddle::test]` or, with settings of
/// `raddle::Check`, `#[raddle::test(strategy = "rapos", runs = 10_000)]`.
///
/// Settings are the names of `Check`'s methods. An `async fn` is run by `raddle::future::block_on`; a
/// body may return a `Result`, whose error fails the run.
#[proc_macro_attribute]
pub fn test(settings: TokenStream, item: TokenStream) -> TokenStream {
    match expand(settings, item) {
        Ok(tokens) => tokens,
        Err((message, span)) => compile_error(&message, span),
    }
}

type Fault = (String, Span);

fn expand(settings: TokenStream, item: TokenStream) -> Result<TokenStream, Fault> {
    let calls = calls(settings)?;
    let function = outline(item)?;
    let name = &function.name;
    let body = if function.asynchronous {
        format!("::raddle::future::block_on(async {{ {name}().await }})")
    } else {
        format!("{name}()")
    };
    // The original function becomes an inner one, and the test of the same name checks it.
    let check = format!(
        "::raddle::Check::new().name(::core::concat!(::core::module_path!(), \"::{name}\")){calls}\
         .run(|| ::raddle::__private::fail_on_error({body}));"
    );
    let mut inner: Vec<TokenTree> = function.tokens;
    inner.extend(parse(&check, name.span())?);
    let mut out: Vec<TokenTree> = parse("#[::core::prelude::v1::test]", name.span())?.into_iter().collect();
    out.extend(function.attributes);
    out.push(TokenTree::Ident(Ident::new("fn", Span::call_site())));
    out.push(TokenTree::Ident(name.clone()));
    out.push(TokenTree::Group(Group::new(Delimiter::Parenthesis, TokenStream::new())));
    out.push(TokenTree::Group(Group::new(Delimiter::Brace, inner.into_iter().collect())));
    Ok(out.into_iter().collect())
}

fn parse(text: &str, span: Span) -> Result<TokenStream, Fault> {
    text.parse().map_err(|error| (format!("raddle bug: {error} in {text}"), span))
}

/// `strategy = "rapos", runs = 10` as `.strategy("rapos").runs(10)`.
fn calls(settings: TokenStream) -> Result<String, Fault> {
    let mut calls = String::new();
    let mut tokens = settings.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(name) = token else {
            return Err((String::from("a setting begins with its name, as in `runs = 1000`"), token.span()));
        };
        match tokens.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {}
            _ => return Err((format!("`{name}` needs a value: `{name} = …`"), name.span())),
        }
        let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
        let mut value = TokenStream::new();
        while let Some(token) = tokens.next_if(|token| !is_comma(token)) {
            value.extend([token]);
        }
        if value.is_empty() {
            return Err((format!("`{name}` needs a value: `{name} = …`"), name.span()));
        }
        tokens.next();
        calls.push_str(&format!(".{name}({value})"));
    }
    Ok(calls)
}

struct Function {
    attributes: Vec<TokenTree>,
    /// The function without its attributes and visibility.
    tokens: Vec<TokenTree>,
    name: Ident,
    asynchronous: bool,
}

fn outline(item: TokenStream) -> Result<Function, Fault> {
    let not_a_function = || (String::from("#[raddle::test] goes on a function"), Span::call_site());
    let mut attributes = Vec::new();
    let mut tokens = item.into_iter().peekable();
    while matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#') {
        attributes.extend(tokens.next());
        attributes.extend(tokens.next());
    }
    let rest: Vec<TokenTree> = tokens.collect();
    let word =
        |token: &TokenTree, text: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == text);
    let at = rest.iter().position(|token| word(token, "fn")).ok_or_else(not_a_function)?;
    let asynchronous = rest[..at].iter().any(|token| word(token, "async"));
    let Some(TokenTree::Ident(name)) = rest.get(at + 1) else { return Err(not_a_function()) };
    match rest.get(at + 2) {
        Some(TokenTree::Group(arguments)) if arguments.stream().is_empty() => {}
        Some(TokenTree::Punct(punct)) if punct.as_char() == '<' => {
            return Err((String::from("a test has no generic parameters"), punct.span()));
        }
        _ => return Err((String::from("a test has no arguments"), name.span())),
    }
    let begin = rest[..at].iter().position(|token| word(token, "async")).unwrap_or(at);
    Ok(Function { attributes, tokens: rest[begin..].to_vec(), name: name.clone(), asynchronous })
}

fn compile_error(message: &str, span: Span) -> TokenStream {
    let literal = TokenTree::Literal(proc_macro::Literal::string(message));
    let tokens = [
        TokenTree::Ident(Ident::new("compile_error", span)),
        TokenTree::Punct(Punct::new('!', Spacing::Alone)),
        TokenTree::Group(Group::new(Delimiter::Brace, literal.into())),
    ];
    tokens.into_iter().collect()
}
