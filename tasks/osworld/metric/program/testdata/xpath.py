"""Writes what lxml finds in xpath.xml: /usr/bin/python3 xpath.py > xpath.json, in this folder."""
import json
import lxml.etree

NS = "https://accessibility.ubuntu.example.org/ns/"
NAMES = dict(st=NS + "state", attr=NS + "attributes", cp=NS + "component", txt=NS + "text", val=NS + "value",
             act=NS + "action", doc=NS + "document", docattr=NS + "document/attributes")
PATHS = """
//application
/desktop-frame/application
/desktop-frame/*
/application
//*
//application[@name='Files']//label
//application[@name="Thunderbird"]//page-tab[@name='Home']
//*[@st:showing='true']
//*[@st:showing]
//*[not(@st:showing)]
//*[@st:showing='true' and @st:visible='true']
//*[@st:showing='false' or @name='OK']
//page-tab[@attr:id='tab']
//*[@cp:screencoord="(10, 20)"]
//*[contains(@name, 'assword')]
//*[contains(text(), 'hello')]
//*[contains(., 'hello')]
//label[text()='hello']
//label[.='hello']
//label[normalize-space()='hello']
//label[normalize-space(text())='hello']
//*[starts-with(@name, 'Pass')]
//*[string-length(@name) > 6]
//*[string-length(text()) = 5]
//*[@name and text()]
//*[*]
//*[label]
//*[.//label]
//*[label/@name='a']
//*[count(label) = 2]
//*[count(*) > 1]
//panel[count(label[@st:showing='true']) = 1]
//panel[not(label)]
//panel[not(.//push-button[@name='OK'])]
//label/..
//label/parent::panel
//label[parent::panel]
//label/ancestor::application
//push-button/following-sibling::*
//label/preceding-sibling::*
//label[following-sibling::label]
//push-button[preceding-sibling::label[@name='a']]
//label | //push-button
(//label)[1]
//panel/label[1]
//panel/label[2]
//panel/*[last()]
//label[1]
//label[last()]
//label[position()=2]
//panel/label[position()<3]
//panel[2]
//frame/panel[2]/label
//panel[1]/label[2]
//panel[@name='p1']/label[@name='b']
//*[self::label or self::push-button]
//*[local-name()='label']
//*[name()='label'][@name='a']
//*[translate(@name, 'OK', 'ok')='ok']
//*[substring-after(@cp:screencoord, ', ')='20)']
//*[substring(@name, 1, 4)='Pass']
//*[number(@cp:n) > 3]
//label[@cp:n > 3]
//label[@cp:n = 5]
//*[@name != 'a']
//*[not(@name='a')]
//label[@name=../push-button/@name]
//panel[label[@name='a'] and push-button]
//panel[label='hello']
//*[concat(@name, '-', @cp:n)='a-5']
//application[@name='Thunderbird']//page-tab-list/page-tab[@st:selected='true']
//application[contains(@name, 'bird')]/frame[contains(@name, 'Inbox')]
//*[@*='Home']
//@name
//label/@name
//entry/text()
//*[@name='it''s']
//*[@name="it's"]
descendant::label
//frame/descendant::label
//frame/child::panel
//panel/descendant-or-self::panel
//panel/label[1][@st:showing]
//frame[panel]/panel[3]/panel
//label[@name='a']/following::label
//push-button/preceding::label
//push-button/ancestor::*[@name]
//panel[.//label[text()='other']]
//panel[panel[label[icon]]]
//frame[entry[@name='Password'] and page-tab-list[page-tab[@st:selected='true']]]
//application[.//entry[contains(text(), 'hello')] or .//push-button]/@name
//*[@name='a' or @name='b'][@st:showing='true']
//label[../push-button[@name='Cancel']]
//label[following-sibling::push-button[@name='Cancel']]
//*[not(ancestor)]
//label[contains(concat(' ', @attr:class, ' '), ' big ')]
boolean(//label)
count(//label) = 5
not(//window)
""".strip().splitlines()

tree = lxml.etree.parse("xpath.xml").getroot()
out = {}
for path in PATHS:
    try:
        found = tree.xpath(path, namespaces=NAMES)
    except lxml.etree.XPathError:
        continue
    if isinstance(found, bool):
        out[path] = found
    else:
        out[path] = [n if isinstance(n, str) else n.tag + "#" + n.get("id", "") for n in found]
print(json.dumps(out, indent=0))
